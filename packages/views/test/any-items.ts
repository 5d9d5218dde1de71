import type { EventContext, JournalItem, JsonObject } from '@vitrine/protocol'
import fc from 'fast-check'
import { gap } from './journal-items.ts'

// Few ids and names, so that events share them; also names of object properties.
const id = fc.constantFrom('a', 'b', 'c', 'd', '1', '2', '__proto__', 'constructor')
const name = fc.constantFrom('a', 'b', 'c', '7', '__proto__', 'é', '')
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
const outcome = fc.constantFrom('ok', 'failed', 'cancelled', 'timeout', 'interrupted', 'nonsense')
const hash = fc.constantFrom('sha256:1', 'sha256:2', 'sha256:3')

interface Body {
  readonly type: string
  readonly data: JsonObject
  readonly context?: EventContext
}

const optional = { requiredKeys: [] }

const operation: fc.Arbitrary<Body> = fc.record({
  type: fc.constantFrom('operation.started', 'operation.started', 'operation.finished', 'operation.progress'),
  data: fc.record(
    {
      op: fc.constantFrom('exec', 'read'),
      parent: id,
      outcome,
      durationMs: fc.double({ noNaN: true, noDefaultInfinity: true }),
      exitCode: fc.constantFrom(0, -0, 3, null),
      path,
    },
    { requiredKeys: ['op'] },
  ),
  context: fc.record({ operation: id }, optional),
})

const process: fc.Arbitrary<Body> = fc.record({
  type: fc.constantFrom('process.started', 'process.output', 'process.exited'),
  data: fc.record(
    {
      process: id,
      argv: fc.array(fc.string(), { maxLength: 2 }),
      pid: fc.nat(),
      stream: fc.constantFrom('stdout', 'stderr', 'terminal', '__proto__'),
      offset: fc.nat(),
      data: fc.oneof(fc.string({ unit: 'binary' }), fc.constant({ blob: 'sha256:1', bytes: 70_000 })),
      encoding: fc.constantFrom('utf8', 'base64'),
      skipped: fc.nat(),
      outcome,
      signal: fc.constantFrom('SIGKILL', null),
    },
    { requiredKeys: ['process'] },
  ),
})

const file: fc.Arbitrary<Body> = fc.record({
  type: fc.constantFrom('file.created', 'file.changed', 'file.deleted', 'file.moved', 'file.moved'),
  data: fc.record(
    {
      path,
      previousPath: path,
      pathBase64: fc.base64String({ maxLength: 8 }),
      kind: fc.constantFrom('file', 'directory'),
      size: fc.nat(),
      before: hash,
      after: hash,
      redacted: fc.boolean(),
    },
    { requiredKeys: ['path', 'previousPath', 'kind'] },
  ),
})

const json = fc
  .dictionary(fc.oneof(fc.string(), id), fc.jsonValue())
  // A round trip through JSON, as events have before a view gets them.
  .map((data): JsonObject => JSON.parse(JSON.stringify(data)))

const nonsense: fc.Arbitrary<Body> = fc.record({
  type: fc.oneof(
    fc.constantFrom('operation.finished', 'process.output', 'file.moved', 'file.changed', 'log.message'),
    fc.constantFrom('newer.type', '__proto__', 'journal.gap', 'desktop.clicked', 'watch.degraded', ''),
    fc.string(),
  ),
  data: json,
  context: fc.record({ operation: fc.oneof(id, fc.constant('')) }, optional),
})

const time = fc.oneof(
  fc.integer({ min: -5000, max: 500_000 }).map((ms) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('', 'yesterday', '2026-13-45T99:99:99Z', '2026-01-01T00:00:00+02:00'),
)

const anyGap = fc.record({
  from: fc.nat(),
  to: fc.nat(),
  types: fc.array(fc.constantFrom('process.output', 'file.changed', 'operation.*'), { maxLength: 2 }),
})

/** Events of every kind in any order: ends without starts, starts without ends, gaps and malformed events. */
export const anyItems: fc.Arbitrary<JournalItem[]> = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: fc.tuple(fc.oneof(operation, process, file, nonsense), time) },
      { weight: 1, arbitrary: anyGap },
    ),
    { maxLength: 80, size: 'max' },
  )
  .map((made) =>
    made.map((one, index): JournalItem => {
      if (!Array.isArray(one)) return gap(one.from, one.to, one.types)
      const [{ type, data, context }, at] = one
      const event = { journal: 'sbx_1', seq: index + 1, time: at, type, source: 'engine', ...context, data }
      // Malformed on purpose.
      return event as JournalItem
    }),
  )
