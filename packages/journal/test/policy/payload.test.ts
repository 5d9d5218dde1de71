import { createHash } from 'node:crypto'
import { checkEventInput, type JsonObject } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPolicy } from '../../src/policy/apply.ts'
import { type PayloadPolicy, policyRules } from '../../src/policy/policy.ts'
import { samples } from './samples.ts'

const apply = (type: string, data: JsonObject, policy: PayloadPolicy) =>
  applyPolicy(type, data, policyRules(policy))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const measured = (text: string) => ({ bytes: Buffer.byteLength(text), sha256: sha256(text) })
const finished = 'operation.finished'
const noted = /^(.*)…\[(\d+) bytes left out\]…(.*)$/s

describe('output', () => {
  it('is omitted when disabled, and its length and hash are recorded', () => {
    expect(
      apply(finished, { op: 'exec', stdout: 'out', stderr: 'err!', note: 'stays' }, { output: false }),
    ).toEqual({
      op: 'exec',
      note: 'stays',
      omitted: { stdout: measured('out'), stderr: measured('err!') },
    })
  })

  it('keeps an empty data field in process.output when disabled', () => {
    const data = { process: 'p', stream: 'stdout', offset: 7, data: 'words', encoding: 'utf8' }
    expect(apply('process.output', data, { output: false })).toEqual({
      ...data,
      data: '',
      omitted: { data: measured('words') },
    })
  })

  it('keeps head and tail over the limit, with a note', () => {
    const text = `HEAD${'.'.repeat(1_000)}TAIL`
    const result = apply(finished, { op: 'exec', stdout: text }, { maxOutputBytes: 100 })
    const [, head = '', left, tail = ''] = noted.exec(String(result.stdout)) ?? []
    expect(head.startsWith('HEAD.')).toBe(true)
    expect(tail.endsWith('.TAIL')).toBe(true)
    expect(head.length + Number(left) + tail.length).toBe(text.length)
    expect(Math.abs(head.length - tail.length)).toBeLessThanOrEqual(1)
    expect(result.omitted).toEqual({ stdout: measured(text) })
  })

  it.each([
    ['at the limit', 'x'.repeat(100)],
    ['at the limit in letters of several bytes', 'é'.repeat(50)],
    ['empty', ''],
  ])('is unchanged if it is %s, and so is the event', (_what, stdout) => {
    const data = { op: 'exec', stdout }
    expect(apply(finished, data, { maxOutputBytes: 100 })).toBe(data)
  })

  it('can have a limit of zero', () => {
    expect(apply(finished, { op: 'exec', stdout: 'words' }, { maxOutputBytes: 0 })).toEqual({
      op: 'exec',
      stdout: '',
      omitted: { stdout: measured('words') },
    })
  })

  it('keeps its first size and hash when it is truncated twice', () => {
    const text = 'x'.repeat(1_000)
    const once = apply(finished, { op: 'exec', stdout: text, stderr: text }, { maxOutputBytes: 500 })
    const twice = apply(finished, once, { maxOutputBytes: 100 })
    expect(twice.omitted).toEqual({ stdout: measured(text), stderr: measured(text) })
    expect(String(twice.stdout).length).toBeLessThan(String(once.stdout).length)
    const none = apply(finished, once, { output: false })
    expect(none.omitted).toEqual({ stdout: measured(text), stderr: measured(text) })
  })

  it('is truncated between characters, within the limit, to head and tail of the original', () => {
    fc.assert(
      fc.property(
        // A character that is cut in two is decoded as U+FFFD, so the original must not contain one.
        fc
          .string({ unit: 'grapheme', minLength: 20, maxLength: 300 })
          .filter((one) => !one.includes('\ufffd')),
        fc.integer({ min: 0, max: 200 }),
        (text, maxOutputBytes) => {
          const result = apply(finished, { op: 'exec', stdout: text }, { maxOutputBytes })
          const kept = String(result.stdout)
          if (Buffer.byteLength(text) <= maxOutputBytes) {
            expect(kept).toBe(text)
            return
          }
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxOutputBytes)
          expect(kept).not.toContain('\ufffd')
          expect(kept.isWellFormed()).toBe(true)
          expect(result.omitted).toEqual({ stdout: measured(text) })
          const [, head = kept, left, tail = ''] = noted.exec(kept) ?? []
          expect(text.startsWith(head)).toBe(true)
          expect(text.endsWith(tail)).toBe(true)
          if (left === undefined) return
          expect(Buffer.byteLength(head) + Number(left) + Buffer.byteLength(tail)).toBe(
            Buffer.byteLength(text),
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is stored completely or omitted when it is base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 200 }), (bytes, limit) => {
        const text = Buffer.from(bytes).toString('base64')
        const data = { process: 'p', stream: 'stdout', offset: 0, data: text, encoding: 'base64' }
        const result = apply('process.output', data, { maxOutputBytes: limit })
        if (bytes.length <= limit) expect(result).toBe(data)
        else expect(result).toEqual({ ...data, data: '', omitted: { data: measured(text) } })
      }),
    )
  })

  it('is stored completely or omitted when it is base64 in another event', () => {
    const data = { data: Buffer.from('bytes of an agent').toString('base64'), encoding: 'base64' }
    expect(apply('agent.unparsed', data, { maxTextBytes: 10 })).toEqual({
      ...data,
      data: '',
      omitted: { data: measured(data.data) },
    })
    expect(apply('agent.unparsed', data, { maxTextBytes: 100 })).toBe(data)
  })
})

describe('other payload', () => {
  it('omits arguments without argv', () => {
    const data = { op: 'exec', argv: ['a'], command: 'a', args: ['a'], shell: true }
    expect(apply('operation.started', data, { argv: false })).toEqual({ op: 'exec', shell: true })
    expect(apply('operation.started', data, { argv: true })).toBe(data)
  })

  it('omits paths without paths', () => {
    const data = {
      ...{ op: 'read', path: 'a', pathBase64: 'YQ==', previousPath: 'b', previousPathBase64: 'Yg==' },
      ...{ paths: ['a'], cwd: '/', root: '/', target: 'c', uncovered: ['d'], bytes: 1 },
    }
    expect(apply('operation.started', data, { paths: false })).toEqual({ op: 'read', bytes: 1 })
    expect(apply('operation.started', data, { paths: true })).toBe(data)
  })

  it('stores names of variables, values too, or neither', () => {
    const data = { op: 'exec', env: { HOME: '/root', TOKEN: 'x' } }
    expect(apply('operation.started', data, {})).toEqual({ op: 'exec', env: ['HOME', 'TOKEN'] })
    expect(apply('operation.started', data, { env: true })).toBe(data)
    expect(apply('operation.started', data, { env: false })).toEqual({ op: 'exec' })
  })

  it('omits the text of an error without errorText, but not its type and code', () => {
    const data = {
      op: 'exec',
      outcome: 'failed',
      ok: false,
      errorType: 'E',
      errorCode: 'c',
      errorMessage: 'text',
    }
    const { errorMessage: _text, ...rest } = data
    expect(apply(finished, data, { errorText: false })).toEqual(rest)
    expect(apply(finished, data, { errorText: true })).toBe(data)
  })

  it('truncates other strings at their own limit', () => {
    const message = 'm'.repeat(500)
    const result = apply('log.message', { level: 'info', message, short: 'stays' }, { maxTextBytes: 60 })
    expect(result).toMatchObject({ level: 'info', short: 'stays', omitted: { message: measured(message) } })
    expect(Buffer.byteLength(String(result.message))).toBeLessThanOrEqual(60)
  })

  it('is the same object when nothing changes', () => {
    for (const { type, data } of samples) {
      expect(apply(type, data, { env: true })).toBe(data)
    }
  })

  it('is still a valid event after any policy, with its identifiers', () => {
    const limit = fc.option(fc.integer({ min: 0, max: 40 }), { nil: Infinity })
    const policies: fc.Arbitrary<PayloadPolicy> = fc.record({
      output: fc.boolean(),
      maxOutputBytes: limit,
      maxTextBytes: limit,
      argv: fc.boolean(),
      paths: fc.boolean(),
      env: fc.constantFrom(true, false, 'names' as const),
      errorText: fc.boolean(),
    })
    const ids = ['op', 'parent', 'process', 'agent', 'instance', 'permission', 'question', 'loop', 'outcome']
    fc.assert(
      fc.property(fc.constantFrom(...samples), policies, (sample, policy) => {
        const data = apply(sample.type, sample.data, policy)
        expect(() => checkEventInput({ ...sample, data })).not.toThrow()
        for (const id of ids) expect(data[id]).toEqual(sample.data[id])
      }),
      { numRuns: 1_000 },
    )
  })

  it('is not changed in place', () => {
    const data = { op: 'exec', stdout: 'x'.repeat(100), argv: ['a'], env: { A: 'b' }, omitted: { old: {} } }
    const before = structuredClone(data)
    apply(finished, data, { maxOutputBytes: 5, argv: false, env: false })
    expect(data).toEqual(before)
  })
})
