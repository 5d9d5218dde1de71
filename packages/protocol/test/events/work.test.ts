import { describe, expect, it } from 'vitest'
import {
  checkEventInput,
  eventCatalogue,
  interruptedEnd,
  isEventType,
  type JournalEvent,
  openWork,
  parseEvent,
  type WorkKindName,
  workId,
  workKinds,
  workMark,
} from '../../src/index.ts'
import { samples } from './samples.ts'

const kinds = Object.keys(workKinds) as WorkKindName[]
const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
const context = { actor: 'ada', sandbox: 'sbx_1', session: 'ses_1', run: 'run_1', turn: 'turn_1', trace }

function started(kind: WorkKindName): JournalEvent {
  const { starts } = workKinds[kind]
  const { data } = samples[starts]
  return parseEvent({
    journal: 'sbx_a',
    seq: 3,
    time: '2026-01-02T03:04:05.678Z',
    type: starts,
    source: 'engine',
    ...context,
    ...(kind === 'operation' && { operation: 'op_1' }),
    data,
  })
}

describe('workKinds', () => {
  it('contains every event type of the catalogue that starts or ends work', () => {
    const edges = Object.keys(eventCatalogue).filter((type) => workMark(type) !== undefined)
    expect(edges.sort()).toEqual(
      [
        ...['operation.started', 'operation.finished', 'process.started', 'process.exited'],
        ...['agent.started', 'agent.exited', 'turn.started', 'turn.finished'],
        ...['permission.requested', 'permission.resolved', 'question.requested', 'question.resolved'],
        ...['run.started', 'run.finished', 'loop.started', 'loop.finished'],
      ].sort(),
    )
  })

  it.each(kinds)('marks the start and the end of the kind %s', (kind) => {
    const { starts, ends } = workKinds[kind]
    expect(isEventType(starts) && isEventType(ends)).toBe(true)
    expect(workMark(starts)).toEqual({ kind, edge: 'start' })
    expect(workMark(ends)).toEqual({ kind, edge: 'end' })
  })

  it.each(['operation.progress', 'log.message', 'sandbox.created', 'toString'])(
    'does not contain %s',
    (type) => {
      expect(workMark(type)).toBeUndefined()
    },
  )
})

describe('interruptedEnd', () => {
  it.each(kinds)('is a valid event that ends the same work of the kind %s', (kind) => {
    const start = started(kind)
    const id = workId(kind, start)
    expect(id).toBeDefined()
    const work = openWork(kind, id!, start)
    // The end is written by another process than the start, so the work goes through JSON.
    const end = interruptedEnd(JSON.parse(JSON.stringify(work)), 'The host died.')
    expect(() => checkEventInput(end)).not.toThrow()
    expect(end.type).toBe(workKinds[kind].ends)
    expect(workId(kind, end)).toBe(id)
    expect(end.derived).toBe(true)
    expect(end).toMatchObject(context)
    expect(end.data).toMatchObject({
      outcome: 'interrupted',
      errorCode: 'interrupted',
      errorMessage: 'The host died.',
    })
  })

  it.each(kinds)('has neither an exit code nor a duration for the kind %s', (kind) => {
    const start = started(kind)
    const { data = {} } = interruptedEnd(openWork(kind, workId(kind, start)!, start), 'x')
    for (const field of ['exitCode', 'signal', 'durationMs', 'stopReason', 'answer']) {
      expect(data).not.toHaveProperty(field)
    }
    expect(data.ok ?? false).toBe(false)
  })

  it('has the op and the parent of an operation', () => {
    const start = started('operation')
    const { data } = interruptedEnd(openWork('operation', 'op_1', start), 'x')
    expect(data).toMatchObject({ op: 'exec', parent: 'op_0', ok: false })
  })

  it('openWork() stores only the fields of a start that its end needs', () => {
    const start = { ...started('process'), data: { process: 'p', argv: ['secret'], cwd: '/w' } }
    const { turn: _turn, ...without } = start
    const work = openWork('process', 'p', parseEvent(without))
    expect(work.data).toEqual({ process: 'p' })
    expect(work.startedAt).toBe(3)
    expect('turn' in work.context).toBe(false)
  })
})

describe('workId', () => {
  it.each(kinds)('is undefined for the kind %s if the id is empty or not a string', (kind) => {
    const start = started(kind)
    const fields = ['operation', 'turn', 'run']
    for (const bad of ['', 5, null, undefined]) {
      const data = Object.fromEntries(Object.keys(start.data).map((key) => [key, bad]))
      const top = Object.fromEntries(fields.map((key) => [key, bad]))
      expect(workId(kind, { ...top, data } as never)).toBeUndefined()
    }
  })
})
