import { expect, it } from 'vitest'
import type { Expected } from './expected.ts'
import { chunksIn, type Scene, take, textIn, transcriptOf } from './scene.ts'

/** What is said, and what it cost. */
export function talkingCases({ tells }: Expected, scene: () => Scene): void {
  it(`says what its model says, and ${tells.usage ? 'tells' : 'does not tell'} what it cost`, async () => {
    const { model } = scene()
    const { result, events } = await take(scene(), 'say:banana')
    expect(result).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
    expect(result?.modelError).toBeUndefined()
    expect(textIn(events)).toContain('I say banana.')
    expect(model.requests.some(({ mark }) => mark?.kind === 'say')).toBe(true)
    const transcript = await transcriptOf(scene())
    expect(JSON.stringify(transcript.messages)).toContain('I say banana.')
    expect(result?.usage).toEqual(tells.usage ? expect.objectContaining(someTokens) : undefined)
    expect(transcript.usage).toEqual(
      tells.context
        ? expect.objectContaining({ context: { used: expect.any(Number), size: expect.any(Number) } })
        : {},
    )
  })

  it('shows what its model thinks', async () => {
    const { result, events } = await take(scene(), 'think:pears')
    expect(result).toMatchObject({ outcome: 'ok' })
    expect(chunksIn(events, 'agent_thought_chunk')).toContain('Let me think about pears.')
    expect(textIn(events)).toContain('I thought about pears.')
    const { thoughts } = await transcriptOf(scene())
    expect(JSON.stringify(thoughts)).toContain('Let me think about pears.')
  })
}

const someTokens = {
  inputTokens: expect.any(Number),
  outputTokens: expect.any(Number),
  totalTokens: expect.any(Number),
}
