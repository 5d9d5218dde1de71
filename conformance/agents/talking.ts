import { expect, it } from 'vitest'
import { chunkOf, type Scene, take, textIn } from './scene.ts'

/** What is said, and what it cost. */
export function talkingCases(scene: () => Scene): void {
  it('says what its model says, and tells what it cost where it does', async () => {
    const { session, expected, model } = scene()
    const { result, events } = await take(scene(), 'say:banana')
    expect(result).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
    expect(result?.modelError).toBeUndefined()
    expect(textIn(events)).toContain('I say banana.')
    expect(JSON.stringify(await session.transcript())).toContain('I say banana.')
    expect(model.requests.some(({ mark }) => mark?.kind === 'say')).toBe(true)
    if (!expected.usage) expect(result?.usage).toBeUndefined()
    else expect(result?.usage?.totalTokens).toBeGreaterThan(0)
  })

  it('shows what its model thinks', async () => {
    const { session } = scene()
    const { result, events } = await take(scene(), 'think:pears')
    expect(result).toMatchObject({ outcome: 'ok' })
    const thought = events.map((event) => chunkOf(event, 'agent_thought_chunk')).join('')
    expect(thought).toContain('Let me think about pears.')
    expect(textIn(events)).toContain('I thought about pears.')
    const { thoughts } = (await session.transcript()) as { thoughts?: unknown }
    expect(JSON.stringify(thoughts)).toContain('Let me think about pears.')
  })
}
