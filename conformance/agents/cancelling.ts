import { expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import type { ExpectedBehaviour } from './expected.ts'
import {
  type AgentFixture,
  chunkOf,
  fileIn,
  longCommand,
  ofType,
  recordProcesses,
  replyTo,
  runTurn,
} from './fixture.ts'
import { processesWith } from './process-table.ts'
import { expectEnding } from './tools.ts'

/** A turn is cancelled at several points, and the next prompt must work. */
export function cancellingCases(expected: ExpectedBehaviour, fixture: () => AgentFixture): void {
  const { permissions, run } = expected

  it('stops its message when the turn is cancelled, and answers the next prompt', async () => {
    const { result } = await runTurn(fixture(), 'slow:tick', {
      async meanwhile({ until }) {
        await until('its first message', (event) => chunkOf(event, 'agent_message_chunk').includes('tick'))
        await fixture().session.cancel()
      },
    })
    expect(result).toMatchObject({ outcome: 'cancelled' })
    expect(await replyTo(fixture(), 'say:cherry')).toContain('I say cherry.')
  })

  it('leaves no process of a cancelled command, and answers the next prompt', async () => {
    const { command, mark } = longCommand()
    const turn = await runTurn(fixture(), `${run}:${command}`, {
      answer: 'allow_once',
      async meanwhile() {
        await eventually(`a process with ${mark}`, () => processesWith(mark).length > 0)
        recordProcesses(fixture())
        await fixture().session.cancel()
      },
    })
    expect(turn.result).toMatchObject({ outcome: 'cancelled' })
    expectEnding(expected, turn, 'cancelled command')
    await eventually(`no process with ${mark}`, () => processesWith(mark).length === 0, 5_000)
    expect(await replyTo(fixture(), 'say:grape')).toContain('I say grape.')
  })

  if (permissions === undefined) return
  it('withdraws a permission request when the turn is cancelled, and answers the next prompt', async () => {
    const { path } = fileIn(fixture(), 'cancelled.txt')
    const { result, events } = await runTurn(fixture(), `write:${path}:never written`, {
      async meanwhile({ until }) {
        await until('a permission request', ({ type }) => type === 'permission.requested')
        await fixture().session.cancel()
      },
    })
    expect(result).toMatchObject({ outcome: 'cancelled' })
    expect(ofType(events, 'permission.requested')).toHaveLength(1)
    expect(ofType(events, 'permission.resolved')).toMatchObject([
      { data: { outcome: 'cancelled', answer: 'cancelled', by: 'cancel' } },
    ])
    expect(fixture().session.permissions).toEqual([])
    expect(fileIn(fixture(), 'cancelled.txt').content).toBeUndefined()
    expect(await replyTo(fixture(), 'say:lemon')).toContain('I say lemon.')
  })
}
