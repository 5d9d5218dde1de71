import type { JournalEvent } from '@vitrine/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Activity, idleSince, nextActivity, noActivity } from '../../src/life-times/activity.ts'

type Fields = { readonly [key: string]: unknown }

/** An event of the journal with the fields that matter here. */
function event(type: string, fields: Fields = {}, data: Fields = {}): Parameters<typeof nextActivity>[1] {
  return {
    journal: 'sbx',
    seq: 1,
    time: '',
    source: 'engine',
    type,
    ...fields,
    data,
  } as JournalEvent as Parameters<typeof nextActivity>[1]
}

const ready = event('sandbox.ready')
const exec = [
  event('operation.started', { operation: 'op' }, { op: 'exec' }),
  event('operation.finished', { operation: 'op' }, { op: 'exec' }),
] as const
const spawned = [
  event('process.started', {}, { process: 'p' }),
  event('process.exited', {}, { process: 'p' }),
] as const
const turn = [event('turn.started', { turn: 't' }), event('turn.finished', { turn: 't' })] as const
const queued = event('prompt.queued', { turn: 't' })

/** Each event is one millisecond after the one before it, the first at 1. */
function after(...events: readonly Parameters<typeof nextActivity>[1][]): Activity {
  return events.reduce((activity, one, at) => nextActivity(activity, one, at + 1), noActivity)
}

it.each([
  ['before its start', [], undefined],
  ['since its start', [ready], 1],
  ['not during an operation', [ready, exec[0]], undefined],
  ['since the end of an operation', [ready, ...exec], 3],
  ['not while a process runs', [ready, spawned[0], ...exec], undefined],
  ['since the exit of a process', [ready, ...spawned], 3],
  ['not during a turn', [ready, turn[0]], undefined],
  ['not while a prompt is queued', [ready, queued], undefined],
  ['since the end of a turn that was queued', [ready, queued, ...turn], 4],
  ['since a queued prompt was dropped', [ready, queued, event('prompt.dropped', { turn: 't' })], 3],
  ['while an agent waits for a prompt', [ready, spawned[0], event('agent.started', {}, { process: 'p' })], 3],
  [
    'since its start, also if a caller asks whether it runs',
    [ready, event('operation.started', { operation: 'x' }, { op: 'running' })],
    1,
  ],
  ['not while it is paused', [ready, event('sandbox.paused')], undefined],
  ['since it was resumed', [ready, event('sandbox.paused'), event('sandbox.resumed')], 3],
  ['not when it has stopped', [ready, event('sandbox.stopped')], undefined],
  ['not when it has failed', [ready, event('sandbox.failed')], undefined],
  ['since it was started again', [ready, ...exec, event('sandbox.stopped'), ready], 5],
  ['since its start, whatever ends that began earlier', [ready, exec[1], spawned[1], turn[1]], 1],
])('a sandbox is idle %s', (_name, events, since) => {
  expect(idleSince(after(...events))).toBe(since)
})

it('a sandbox is idle exactly if everything that began has ended, in any order', () => {
  const work = fc.shuffledSubarray(
    ['a', 'b', 'c'].flatMap((id) => [
      event('operation.started', { operation: id }, { op: 'exec' }),
      event('process.started', {}, { process: id }),
      event('turn.started', { turn: id }),
    ]),
  )
  const endOf = ({ type, ...rest }: Parameters<typeof nextActivity>[1]) =>
    ({
      ...rest,
      type: type.replace('started', type.startsWith('process') ? 'exited' : 'finished'),
    }) as typeof ready
  const scene = work.chain((begun) => fc.tuple(fc.constant(begun), fc.shuffledSubarray(begun)))
  fc.assert(
    fc.property(scene, ([begun, ended]) => {
      const activity = after(ready, ...begun, ...ended.map(endOf))
      expect(idleSince(activity) !== undefined).toBe(begun.length === ended.length)
    }),
  )
})
