import { describe, expect, it } from 'vitest'
import { listProcesses, processListView, rebuild } from '../src/index.ts'
import { event, gap } from './journal-items.ts'
import { describeViewProperties } from './view-properties.ts'

const view = processListView()

describe('the process list', () => {
  describeViewProperties(view)

  it('follows a process from its start over its output to its end', () => {
    const events = [
      event(1, 'process.started', { process: 'p', argv: ['npm', 'test'], pid: 42 }, { operation: 'op_1' }),
      event(2, 'process.output', { process: 'p', stream: 'stdout', offset: 0, data: 'hé', encoding: 'utf8' }),
      event(3, 'process.output', {
        process: 'p',
        stream: 'stderr',
        offset: 0,
        data: 'AAEC',
        encoding: 'base64',
      }),
      event(4, 'process.exited', {
        process: 'p',
        outcome: 'failed',
        exitCode: 3,
        signal: null,
        durationMs: 12,
      }),
    ]
    expect(listProcesses(rebuild(view, events.slice(0, 2)))).toEqual([
      {
        id: 'p',
        state: 'running',
        argv: ['npm', 'test'],
        pid: 42,
        operation: 'op_1',
        startedAt: { seq: 1, time: '2026-01-02T10:15:01.000Z' },
        output: { stdout: 3, stderr: 0, terminal: 0 },
        skipped: 0,
      },
    ])
    expect(listProcesses(rebuild(view, events))[0]).toMatchObject({
      state: 'exited',
      outcome: 'failed',
      exitCode: 3,
      durationMs: 12,
      endedAt: { seq: 4 },
      output: { stdout: 3, stderr: 3, terminal: 0 },
    })
  })

  it('counts output that is missing from the journal, by the offsets', () => {
    const output = (seq: number, offset: number, more = {}) =>
      event(seq, 'process.output', {
        process: 'p',
        stream: 'terminal',
        offset,
        data: 'abc',
        encoding: 'utf8',
        ...more,
      })
    const list = rebuild(view, [
      output(1, 0),
      gap(2, 8, ['process.output']),
      output(9, 1000, { skipped: 500 }),
    ])
    expect(listProcesses(list)[0]).toMatchObject({ output: { terminal: 1003 }, skipped: 500 })
    expect(list.complete).toBe(true)
  })

  it('lists a process whose start is missing', () => {
    const list = rebuild(view, [
      gap(1, 4, ['process.started']),
      event(5, 'process.exited', { process: 'p', outcome: 'interrupted' }),
    ])
    expect(listProcesses(list)).toMatchObject([{ id: 'p', state: 'exited', outcome: 'interrupted' }])
    expect(listProcesses(list)[0]).not.toHaveProperty('startedAt')
    expect(list.complete).toBe(false)
  })

  it('uses only the first end', () => {
    const list = rebuild(view, [
      event(1, 'process.exited', { process: 'p', outcome: 'failed', exitCode: 1 }),
      event(2, 'process.exited', { process: 'p', outcome: 'ok', exitCode: 0 }),
    ])
    expect(listProcesses(list)).toMatchObject([{ outcome: 'failed', exitCode: 1, endedAt: { seq: 1 } }])
  })

  it('resets a process that starts again after its exit', () => {
    const list = rebuild(view, [
      event(1, 'process.started', { process: 'p' }),
      event(2, 'process.exited', { process: 'p', outcome: 'failed', exitCode: 1 }),
      event(3, 'process.started', { process: 'p' }),
    ])
    expect(listProcesses(list)).toMatchObject([{ state: 'running', startedAt: { seq: 3 } }])
    expect(list.exited).toEqual([])
  })

  it('drops the processes that ended first beyond its limit, counts them, and keeps running ones', () => {
    const events = [event(1, 'process.started', { process: 'server' })]
    for (let seq = 2; seq <= 12; seq += 2) {
      events.push(event(seq, 'process.started', { process: `p${seq}` }))
      events.push(event(seq + 1, 'process.exited', { process: `p${seq}`, outcome: 'ok' }))
    }
    const list = rebuild(processListView({ maxExited: 2 }), events)
    expect(listProcesses(list).map(({ id }) => id)).toEqual(['server', 'p10', 'p12'])
    expect(list.dropped).toBe(4)
  })

  it('refuses a limit that is not a whole number', () => {
    expect(() => processListView({ maxExited: 1.5 })).toThrow(
      'maxExited: expected a whole number of at least 0, got 1.5.',
    )
  })
})
