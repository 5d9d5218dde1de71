import { expect, it } from 'vitest'
import type { ExpectedBehaviour } from './expected.ts'
import { type AgentFixture, chunksIn, runTurn, textIn, transcriptOf } from './fixture.ts'

/** Messages, thoughts, and the reported token usage. */
export function messageCases({ reports }: ExpectedBehaviour, fixture: () => AgentFixture): void {
  it(`sends the text of its model, and ${reports.usage ? 'reports' : 'does not report'} the token usage`, async () => {
    const { model } = fixture()
    const { result, events } = await runTurn(fixture(), 'say:banana')
    expect(result).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
    expect(result?.modelError).toBeUndefined()
    expect(textIn(events)).toContain('I say banana.')
    expect(model.requests.some(({ mark }) => mark?.kind === 'say')).toBe(true)
    const transcript = await transcriptOf(fixture())
    expect(JSON.stringify(transcript.messages)).toContain('I say banana.')
    expect(result?.usage).toEqual(reports.usage ? expect.objectContaining(someTokens) : undefined)
    expect(transcript.usage).toEqual(
      reports.context
        ? expect.objectContaining({ context: { used: expect.any(Number), size: expect.any(Number) } })
        : {},
    )
  })

  it('sends the thoughts of its model', async () => {
    const { result, events } = await runTurn(fixture(), 'think:pears')
    expect(result).toMatchObject({ outcome: 'ok' })
    expect(chunksIn(events, 'agent_thought_chunk')).toContain('Let me think about pears.')
    expect(textIn(events)).toContain('I thought about pears.')
    const { thoughts } = await transcriptOf(fixture())
    expect(JSON.stringify(thoughts)).toContain('Let me think about pears.')
  })
}

const someTokens = {
  inputTokens: expect.any(Number),
  outputTokens: expect.any(Number),
  totalTokens: expect.any(Number),
}
