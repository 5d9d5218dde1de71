import type { JournalItem, JsonObject } from '@vitrine/protocol'
import fc from 'fast-check'
import { gap } from '../journal-items.ts'

// Few ids, so that events share them; also names of object properties.
const id = fc.constantFrom('a', 'b', '__proto__', 'constructor')
const words = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('long '.repeat(100)))
const optional = { requiredKeys: [] }

const data = fc
  .record(
    {
      agent: words,
      title: fc.option(words),
      restored: fc.constant('load'),
      provider: words,
      permission: id,
      question: id,
      toolCall: fc.oneof(fc.record({ title: words }), fc.record({ rawInput: fc.record({ command: words }) })),
      message: words,
      prompt: fc.array(fc.record({ type: fc.constant('text'), text: words }), { maxLength: 2 }),
      outcome: fc.constantFrom('ok', 'failed', 'nonsense'),
      usage: fc.record({ inputTokens: fc.nat(), totalTokens: fc.constantFrom(3, -1, null) }, optional),
      cost: fc.record(
        { amount: fc.double({ noNaN: true, noDefaultInfinity: true }), currency: words },
        { requiredKeys: ['amount'] },
      ),
      context: fc.record({ used: fc.nat(), size: fc.nat() }, optional),
    },
    optional,
  )
  // A round trip through JSON, as events have before a view gets them.
  .map((fields): JsonObject => JSON.parse(JSON.stringify(fields)))

const type = fc.constantFrom(
  ...['session.created', 'session.created', 'session.updated', 'session.closed'],
  ...['prompt.queued', 'prompt.dropped', 'turn.started', 'turn.finished', 'turn.finished'],
  ...['permission.requested', 'permission.resolved', 'question.requested', 'question.resolved'],
  ...['sandbox.created', 'sandbox.ready', 'sandbox.paused', 'sandbox.stopped', 'sandbox.destroyed'],
  ...['host.started', 'journal.recovered', 'agent.message', 'operation.started', 'session.newer'],
)

const made = fc.record({
  type,
  data,
  context: fc.record({ session: id, turn: fc.constantFrom('t1', 't2', ''), sandbox: id }, optional),
  journal: id,
})

/** Events of sessions and sandboxes of several journals, in any order, with gaps. */
export const anySessions: fc.Arbitrary<JournalItem[]> = fc
  .array(fc.oneof({ weight: 20, arbitrary: made }, { weight: 1, arbitrary: fc.constant('gap' as const) }), {
    maxLength: 60,
    size: 'max',
  })
  .map((items) =>
    items.map((one, index): JournalItem => {
      if (one === 'gap') return gap(index, index, ['turn.finished'])
      const time = new Date(Date.UTC(2026, 0, 1) + index).toISOString()
      const { type: name, journal, context, data: fields } = one
      const event = { journal, seq: index + 1, time, type: name, source: 'host', ...context, data: fields }
      // A view takes any data under any type.
      return event as JournalItem
    }),
  )
