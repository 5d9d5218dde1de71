import { expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import type { Expected } from './expected.ts'
import { processesWith } from './process-table.ts'
import { chunkOf, fileIn, longCommand, note, ofType, type Scene, said, take } from './scene.ts'
import { expectEnding } from './tools.ts'

/** Called off in the middle of something, and asked for more afterwards. */
export function cancellingCases(expected: Expected, scene: () => Scene): void {
  const { asks, run } = expected

  it('stops talking when it is cancelled, and goes on with the next prompt', async () => {
    const { result } = await take(scene(), 'slow:tick', {
      async meanwhile({ until }) {
        await until('its first words', (event) => chunkOf(event, 'agent_message_chunk').includes('tick'))
        await scene().session.cancel()
      },
    })
    expect(result).toMatchObject({ outcome: 'cancelled' })
    expect(await said(scene(), 'say:cherry')).toContain('I say cherry.')
  })

  it('leaves no process of a command that is cancelled, and goes on with the next prompt', async () => {
    const { command, mark } = longCommand()
    const turn = await take(scene(), `${run}:${command}`, {
      answer: 'allow_once',
      async meanwhile() {
        await eventually(`a process with ${mark}`, () => processesWith(mark).length > 0)
        note(scene())
        await scene().session.cancel()
      },
    })
    expect(turn.result).toMatchObject({ outcome: 'cancelled' })
    expectEnding(expected, turn, 'cancelled command')
    await eventually(`no process with ${mark}`, () => processesWith(mark).length === 0, 5_000)
    expect(await said(scene(), 'say:grape')).toContain('I say grape.')
  })

  if (asks === undefined) return
  it('takes a question back when it is cancelled, and goes on with the next prompt', async () => {
    const { path } = fileIn(scene(), 'called-off.txt')
    const { result, events } = await take(scene(), `write:${path}:never written`, {
      async meanwhile({ until }) {
        await until('a question', ({ type }) => type === 'permission.requested')
        await scene().session.cancel()
      },
    })
    expect(result).toMatchObject({ outcome: 'cancelled' })
    expect(ofType(events, 'permission.requested')).toHaveLength(1)
    expect(ofType(events, 'permission.resolved')).toMatchObject([
      { data: { outcome: 'cancelled', answer: 'cancelled', by: 'cancel' } },
    ])
    expect(scene().session.permissions).toEqual([])
    expect(fileIn(scene(), 'called-off.txt').content).toBeUndefined()
    expect(await said(scene(), 'say:lemon')).toContain('I say lemon.')
  })
}
