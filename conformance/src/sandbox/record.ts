import { setTimeout as sleep } from 'node:timers/promises'
import type { BlobRef } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { coverageFault, numbers } from '../events/coverage.ts'
import { bytesOf } from '../reader/blobs.ts'
import { attempt } from '../waiting/attempt.ts'
import {
  allEvents,
  exitsOf,
  operationsOf,
  processEvents,
  processOf,
  recordedOutput,
  typesOf,
} from './events.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'

export function recordCases(make: MakeSandbox): void {
  describe('the journal', () => {
    const shared = sharedSandbox(make)

    it('the journal has the start, the process and the end of every exec, in order and once', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await Promise.all(
        numbers(1, 20).map((one) => sandbox.exec(`echo ${one}; echo ${one} >&2; exit ${one}`)),
      )
      const events = await allEvents(journal)
      expect(coverageFault(events)).toBeUndefined()
      const operations = operationsOf(events, 'exec')
      expect(operations).toHaveLength(20)
      for (const operation of operations) {
        const types = typesOf(operation).filter((type) => type !== 'process.output')
        expect(types).toEqual([
          'operation.started',
          'process.started',
          'process.exited',
          'operation.finished',
        ])
        const output = typesOf(operation).indexOf('process.output')
        expect(output).toBeGreaterThan(typesOf(operation).indexOf('process.started'))
        expect(typesOf(operation).lastIndexOf('process.output')).toBeLessThan(
          typesOf(operation).indexOf('process.exited'),
        )
        expect(new Set(operation.flatMap(({ data }) => data.process ?? [])).size).toBe(1)
      }
    })

    it('the journal has the bytes of a large text, and the cursor to continue after its event', async () => {
      const { sandbox } = await shared()
      const text = 'a large text. '.repeat(6_000)
      const log = (message: string) => ({
        type: 'log.message',
        run: 'run_text',
        data: { level: 'info', message },
      })
      await sandbox.record([log(text), log('next')])
      const [event, next] = await allEvents(sandbox.journal, { run: 'run_text' })
      const { blob, bytes } = (event?.data.message ?? {}) as Partial<BlobRef>
      expect(bytes).toBe(text.length)
      expect(String(await bytesOf(sandbox.journal.blob(String(blob))))).toBe(text)
      expect(String(await bytesOf(sandbox.journal.blob(String(blob), { from: 2, to: 12 })))).toBe(
        'large text',
      )
      const { events } = await sandbox.journal.read({ after: sandbox.journal.cursor(event!), limit: 1 })
      expect(events).toEqual([next])
    })

    it('the journal has the outcome of each exec in its process and in its operation', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const caller = new AbortController()
      const wanted = [
        [sandbox.exec('echo hi; exit 0'), { outcome: 'ok', exitCode: 0, signal: null }],
        [sandbox.exec('exit 9'), { outcome: 'failed', exitCode: 9, signal: null }],
        [sandbox.exec('kill -9 $$'), { outcome: 'failed', exitCode: null, signal: 'SIGKILL' }],
        [
          sandbox.exec('sleep 60', { timeoutMs: 300 }),
          { outcome: 'timeout', exitCode: null, signal: 'SIGKILL' },
        ],
        [
          sandbox.exec('sleep 60', { signal: caller.signal }),
          { outcome: 'cancelled', exitCode: null, signal: 'SIGKILL' },
        ],
      ] as const
      await Promise.all(wanted.slice(0, 4).map(([running]) => running))
      caller.abort()
      await Promise.all(wanted.map(([running]) => running))
      const operations = operationsOf(await allEvents(journal), 'exec')
      for (const [index, [running, ending]] of wanted.entries()) {
        const operation = operations[index] ?? []
        expect(await running).toMatchObject(ending)
        expect(operation.find(({ type }) => type === 'process.exited')?.data).toMatchObject(ending)
        const finished = operation.find(({ type }) => type === 'operation.finished')
        expect(finished?.data).toMatchObject({ op: 'exec', ok: ending.outcome === 'ok', ...ending })
        expect(finished?.data.durationMs).toBeTypeOf('number')
      }
      expect(operations[0]?.at(-1)?.data).toMatchObject({ stdout: 'hi\n', stderr: '' })
    })

    it.each([
      ['a program that is not there', ['no-such-program'], {}, 'command_not_found'],
      ['a directory that is not there', 'true', { cwd: 'missing' }, 'cwd_not_found'],
      ['a directory outside', 'true', { cwd: '/etc' }, 'cwd_outside'],
      ['a user that is not there', 'true', { user: 'no-such-user' }, 'user_unknown'],
      ['a variable that is none', 'true', { env: { 'A=B': 'x' } }, 'environment_invalid'],
      ['more than the system takes', ['true', 'x'.repeat(300_000)], {}, 'argument_invalid'],
    ])('the journal has a refused exec with its error code: %s', async (_name, command, options, code) => {
      const { sandbox, journal } = await shared()
      await expect(attempt(() => sandbox.exec(command, options))).rejects.toMatchObject({ code })
      const operation = operationsOf(await allEvents(journal), 'exec').at(-1) ?? []
      expect(typesOf(operation)).toEqual(['operation.started', 'operation.finished'])
      expect(operation[1]?.data).toMatchObject({ outcome: 'failed', ok: false, errorCode: code })
    })

    it('the journal has an exec with an aborted signal as cancelled, without a process', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec('true', { signal: AbortSignal.abort() })
      const [operation = []] = operationsOf(await allEvents(journal), 'exec')
      expect(typesOf(operation)).toEqual(['operation.started', 'operation.finished'])
      expect(operation[1]?.data).toMatchObject({ outcome: 'cancelled', ok: false })
    })

    it('the journal has the whole output of both streams by offset', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec(
        'i=0; while [ $i -lt 3000 ]; do echo "out é $i"; echo "err € $i" >&2; i=$((i+1)); done',
        { maxOutputBytes: 1_000 },
      )
      const events = await allEvents(journal)
      const lines = (word: string) =>
        numbers(0, 2_999)
          .map((one) => `${word} ${one}\n`)
          .join('')
      expect(recordedOutput(events, processOf(events), 'stdout').bytes.toString()).toBe(lines('out é'))
      expect(recordedOutput(events, processOf(events), 'stderr').bytes.toString()).toBe(lines('err €'))
    })

    it('the journal has no event of a process after its exit, also with background children', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec(
        '(i=0; while [ $i -lt 50 ]; do echo late$i; i=$((i+1)); sleep 0.02; done; touch done) & echo now',
      )
      await sandbox.exec('while [ ! -e done ]; do sleep 0.02; done')
      await sleep(50)
      const events = await allEvents(journal)
      const own = processEvents(events, processOf(events))
      expect(own.at(-1)?.type).toBe('process.exited')
      expect(exitsOf(events, processOf(events))).toHaveLength(1)
    })

    it('the journal has the end before the call returns', async () => {
      const { sandbox, journal } = await newSandbox(make, { commitMs: 20 })
      for (const _round of numbers(1, 5)) {
        await sandbox.exec('echo out')
        const [, , last] = await recordedSteps(journal, 'exec')
        expect(last).toBe(true)
      }
      const process = await sandbox.spawn('echo out; exit 4')
      await process.exit
      expect(exitsOf(await allEvents(journal), process.id)).toHaveLength(1)
    })

    it("the events of a call carry the caller's context, and no others do", async () => {
      const { sandbox, journal } = await newSandbox(make)
      const context = { run: 'run_kit', turn: 'turn_kit', actor: 'kit' }
      const mine = sandbox.as(context)
      await Promise.all([mine.exec('echo mine'), sandbox.exec('echo other')])
      const process = await mine.spawn('echo spawned; sleep 0.1; echo again')
      await process.exit
      await mine.processes.list()
      await mine.ports.list()
      await mine.lifecycle.running()
      const events = await allEvents(journal)
      const ops = ['exec', 'spawn', 'process_list', 'port_list', 'running']
      for (const op of ops) {
        const [operation = []] = operationsOf(
          events.filter(({ run }) => run === 'run_kit'),
          op,
        )
        expect({ op, found: operation.length > 0 }).toEqual({ op, found: true })
        for (const event of operation) expect(event).toMatchObject(context)
      }
      for (const event of processEvents(events, process.id)) expect(event).toMatchObject(context)
      const others = operationsOf(events, 'exec').filter(([first]) => first?.run === undefined)
      expect(others).toHaveLength(1)
      for (const event of others.flat()) {
        expect(event.turn).toBeUndefined()
        expect(event.actor).not.toBe('kit')
      }
    })

    it('a recorded event cannot name its caller, which only a server sets', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const event = { type: 'log.message', data: { level: 'info', message: 'forged' } }
      const problem = await sandbox
        .record([event, { ...event, caller: 'root' }])
        .catch((error: unknown) => error)
      expect(problem).toMatchObject({
        code: 'event_invalid',
        message: expect.stringContaining('events[1].caller'),
      })
      expect((await allEvents(journal)).filter(({ type }) => type === 'log.message')).toEqual([])
    })

    it('a context is merged with the one before', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
      await sandbox.as({ run: 'run_a', traceparent }).as({ turn: 'turn_a' }).exec('true')
      const [operation = []] = operationsOf(await allEvents(journal), 'exec')
      for (const event of operation) expect(event).toMatchObject({ run: 'run_a', turn: 'turn_a' })
      expect(operation[0]?.trace).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) })
    })

    it("every call joins the caller's trace", async () => {
      const { sandbox, journal } = await newSandbox(make)
      const mine = sandbox.as({ traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` })
      await mine.exec('true')
      await (await mine.spawn('true')).exit
      await mine.processes.list()
      await mine.ports.list()
      await mine.lifecycle.running()
      const events = await allEvents(journal)
      for (const op of ['exec', 'spawn', 'process_list', 'port_list', 'running']) {
        const [operation = []] = operationsOf(events, op)
        expect({ op, trace: operation[0]?.trace }).toMatchObject({
          op,
          trace: { traceId: '1'.repeat(32), parentSpanId: '2'.repeat(16) },
        })
      }
      await expect(attempt(() => sandbox.as({ traceparent: 'nonsense' }).exec('true'))).rejects.toMatchObject(
        {
          code: 'argument_invalid',
        },
      )
    })

    it('the inner operations of start and stop are their children', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.lifecycle.stop()
      const events = await allEvents(journal)
      for (const op of ['start', 'stop']) {
        const [operation = []] = operationsOf(events, op)
        const id = operation[0]?.operation
        const children = events.filter(({ type, data }) => type === 'operation.started' && data.parent === id)
        expect(children.length).toBeGreaterThan(0)
        const spans = children.map(({ trace }) => trace?.parentSpanId)
        expect(new Set(spans)).toEqual(new Set([operation[0]?.trace?.spanId]))
        const finished = events.findIndex(
          ({ type, operation: one }) => type === 'operation.finished' && one === id,
        )
        for (const child of children)
          expect(
            events.findIndex(
              ({ type, operation: one }) => type === 'operation.finished' && one === child.operation,
            ),
          ).toBeLessThan(finished)
      }
      const types = typesOf(events)
      expect(types.indexOf('sandbox.created')).toBeLessThan(types.indexOf('sandbox.ready'))
      expect(types.filter((type) => type === 'sandbox.stopped')).toHaveLength(1)
    })

    it('every started operation ends once', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const process = await sandbox.spawn('cat')
      await process.input('a\n')
      await process.signal('SIGCONT')
      await expect(attempt(() => process.resize(80, 24))).rejects.toMatchObject({ code: 'terminal_required' })
      await process.end()
      await process.exit
      await sandbox.processes.get(process.id)
      await sandbox.processes.logs(process.id)
      await expect(attempt(() => sandbox.processes.get('proc_none'))).rejects.toMatchObject({
        code: 'not_found',
      })
      await sandbox.processes.remove(process.id)
      await sandbox.lifecycle.shutdown()
      const events = await allEvents(journal, { types: ['operation.*'] })
      const open = new Map<string, number>()
      for (const { type, operation = '' } of events) {
        if (type === 'operation.started') open.set(operation, 0)
        if (type === 'operation.finished') open.set(operation, (open.get(operation) ?? 0) + 1)
      }
      expect([...open.values()].every((ends) => ends === 1)).toBe(true)
    })

    it('record takes runtime events, and refuses the event types of the sandbox', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.record([{ type: 'log.message', data: { level: 'info', message: 'from the kit' } }])
      const events = await allEvents(journal, { types: ['log.message'] })
      expect(events).toMatchObject([{ source: 'runtime', data: { message: 'from the kit' } }])
      for (const type of ['process.exited', 'operation.finished', 'sandbox.stopped', 'file.changed'])
        await expect(sandbox.record([{ type, data: {} }])).rejects.toMatchObject({ code: 'argument_invalid' })
    })
  })

  describe('`record` under an id', () => {
    const message = (text: string) => ({ type: 'log.message', data: { level: 'info', message: text } })

    it('`record` under an id appends its events once, however often and at once it is called', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const events = [message('one'), message('two')]
      await Promise.all([1, 2, 3].map(() => sandbox.record(events, { id: 'rec_1' })))
      await sandbox.record(events, { id: 'rec_1' })
      await sandbox.record(events, { id: 'rec_2' })
      const recorded = await allEvents(journal, { types: ['log.message'] })
      expect(recorded.map(({ data }) => data.message)).toEqual(['one', 'two', 'one', 'two'])
      expect(recorded.map(({ data }) => data.recordedAs)).toMatchObject([
        { id: 'rec_1' },
        { id: 'rec_1' },
        { id: 'rec_2' },
        { id: 'rec_2' },
      ])
    })

    it('`record` under an id is refused for other events, and for the same in another order', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const events = [message('one'), message('two')]
      await sandbox.record(events, { id: 'rec_1' })
      for (const others of [[message('other')], events.toReversed(), []])
        await expect(sandbox.record(others, { id: 'rec_1' })).rejects.toMatchObject({ code: 'record_exists' })
      expect(await allEvents(journal, { types: ['log.message'] })).toHaveLength(2)
    })

    it('`record` under an id may be called again after it failed', async () => {
      const { sandbox } = await newSandbox(make)
      const wrong = [{ type: 'run.finished', data: { outcome: 'never heard of' } }]
      await expect(sandbox.record(wrong, { id: 'rec_1' })).rejects.toMatchObject({ code: 'event_invalid' })
      await sandbox.record([message('right')], { id: 'rec_1' })
    })
  })

  describe('the budget of a process', () => {
    it('the journal keeps head and tail of 20 MB, the number of missing bytes, and one limit event', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { outcome } = await sandbox.exec(
        `printf HEAD; head -c 20000000 /dev/zero | tr '\\0' x; printf TAIL`,
      )
      expect(outcome).toBe('ok')
      const events = await allEvents(journal)
      const { bytes, skipped, holes } = recordedOutput(events, processOf(events))
      expect(skipped).toBeGreaterThan(0)
      expect(bytes.length + skipped).toBe(20_000_008)
      expect(holes).toHaveLength(1)
      expect(bytes.subarray(0, 8).toString()).toBe('HEADxxxx')
      expect(bytes.subarray(-8).toString()).toBe('xxxxTAIL')
      expect(bytes.length).toBeLessThanOrEqual(16 * 1024 * 1024)
      expect(events.filter(({ type }) => type === 'limit.reached')).toMatchObject([
        { data: { process: processOf(events) } },
      ])
      expect(exitsOf(events, processOf(events))[0]?.data).toMatchObject({ bytes: 20_000_008, skipped })
    })

    it('the output budget is shared by both streams', async () => {
      const { sandbox, journal } = await newSandbox(make, { limits: { journalBytes: 200_000 } })
      await sandbox.exec(
        `for i in 1 2 3 4 5; do head -c 100000 /dev/zero | tr '\\0' o; head -c 100000 /dev/zero | tr '\\0' e >&2; done`,
      )
      const events = await allEvents(journal)
      const [out, err] = [
        recordedOutput(events, processOf(events), 'stdout'),
        recordedOutput(events, processOf(events), 'stderr'),
      ]
      expect(out.bytes.length + out.skipped).toBe(500_000)
      expect(err.bytes.length + err.skipped).toBe(500_000)
      expect(events.filter(({ type }) => type === 'limit.reached')).toHaveLength(1)
      expect(out.bytes.length + err.bytes.length).toBeLessThanOrEqual(200_000)
    })

    it("the output budget does not truncate the caller's result", async () => {
      const { sandbox } = await newSandbox(make, { limits: { journalBytes: 10_000 } })
      const { stdout, truncated } = await sandbox.exec(`head -c 500000 /dev/zero | tr '\\0' x`)
      expect({ length: stdout.length, truncated }).toEqual({ length: 500_000, truncated: false })
    })
  })
}

/** Whether the last operation of that kind has a start, an exit of its process, and an end in the journal. */
async function recordedSteps(journal: Parameters<typeof allEvents>[0], op: string): Promise<boolean[]> {
  const operation = operationsOf(await allEvents(journal), op).at(-1) ?? []
  const has = (type: string) => operation.some((event) => event.type === type)
  return [has('operation.started'), has('process.exited'), has('operation.finished')]
}
