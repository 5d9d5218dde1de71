import type { JournalItem, JsonObject } from '@vitrine/protocol'
import fc from 'fast-check'
import { event, gap } from '../journal-items.ts'
import { asks, calls, finish, says, start, type TestEvent, thinks, update, updates } from './conversation.ts'

// Few ids, so that events share them; also names of object properties.
const id = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'a:7')
const turn = fc.constantFrom('t1', 't2', 't3')
const words = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('long '.repeat(20)))
const outcome = fc.constantFrom('ok', 'failed', 'cancelled', 'timeout', 'interrupted', 'nonsense')
const optional = { requiredKeys: [] }

/** A round trip through JSON, as events have before a view gets them. */
const overTheWire = (data: unknown): JsonObject => JSON.parse(JSON.stringify(data))

const block = fc.oneof(
  words.map((text) => ({ type: 'text', text })),
  fc.constant({ type: 'text', text: { blob: 'sha256:1', bytes: 70_000 } }),
  fc.record({ type: fc.constantFrom('image', 'resource_link'), data: words, uri: words, bytes: fc.nat() }),
  fc.jsonValue(),
)

const call = fc.record(
  {
    title: words,
    kind: fc.constantFrom('read', 'edit', null),
    status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'nonsense', null),
    rawInput: fc.oneof(fc.record({ command: words, path: words }, optional), fc.jsonValue()),
    rawOutput: fc.jsonValue(),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('content'), content: block }),
        fc.record({ type: fc.constant('diff'), path: words, oldText: words, newText: words }),
        fc.jsonValue(),
      ),
      { maxLength: 3 },
    ),
    locations: fc.array(fc.oneof(fc.record({ path: words, line: fc.nat() }), fc.jsonValue()), {
      maxLength: 2,
    }),
  },
  optional,
)

const kinds = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'user_message_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'plan_update',
  'plan_removed',
  'usage_update',
  'session_info_update',
  'current_mode_update',
  'available_commands_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
  'subagent_update',
  'session_message_chunk',
  '__proto__',
]

const agentEvent: fc.Arbitrary<TestEvent> = fc.oneof(
  fc.tuple(words, fc.option(id, { nil: undefined })).map(([chunk, messageId]) => says(chunk, messageId)),
  words.map(thinks),
  fc.tuple(id, call).map(([toolCallId, more]) => calls(toolCallId, overTheWire(more))),
  fc.tuple(id, call).map(([toolCallId, more]) => updates(toolCallId, overTheWire(more))),
  fc.tuple(id, call).map(([toolCallId, more]) => asks(overTheWire({ toolCallId, ...more }))),
  fc
    .tuple(turn, fc.oneof(fc.array(block, { maxLength: 3 }), fc.constant({ blob: 'sha256:2', bytes: 9 })))
    .map(([which, prompt]) => start(which, overTheWire({ prompt }).prompt ?? null)),
  fc
    .tuple(
      turn,
      fc.record(
        {
          outcome,
          closedToolCalls: fc.array(id, { maxLength: 3 }),
          usage: fc.record({ inputTokens: fc.nat(), totalTokens: fc.constantFrom(3, -1, null) }, optional),
          modelError: fc.record({ sign: fc.constantFrom('message', 'nonsense'), text: words }),
          errorMessage: words,
        },
        optional,
      ),
    )
    .map(([which, more]) => finish(which, overTheWire(more))),
  fc
    .tuple(
      fc.constantFrom(
        'permission.requested',
        'permission.resolved',
        'question.requested',
        'question.resolved',
      ),
      fc.record(
        {
          permission: id,
          question: id,
          toolCall: fc.oneof(fc.record({ toolCallId: id, title: words }), fc.jsonValue()),
          options: fc.array(fc.record({ id, name: words, kind: words }), { maxLength: 2 }),
          outcome,
          answer: words,
          message: words,
          schema: fc.jsonValue(),
          action: fc.constantFrom('accept', 'nonsense'),
          content: fc.jsonValue(),
          by: words,
        },
        { requiredKeys: ['permission', 'question'] },
      ),
    )
    .map(([type, data]): TestEvent => [type, overTheWire(data)]),
  fc
    .tuple(
      fc.constantFrom('session.created', 'session.updated', 'session.closed'),
      fc.record({ agent: words, title: fc.option(words), restored: fc.constant('load') }, optional),
    )
    .map(([type, data]): TestEvent => [type, overTheWire(data)]),
  fc
    .tuple(fc.constantFrom(...kinds), fc.dictionary(fc.oneof(id, fc.string()), fc.jsonValue()))
    .map(([kind, fields]) => update(kind, overTheWire(fields))),
  fc
    .record({
      content: block,
      entries: fc.array(fc.record({ content: words, status: words }), { maxLength: 2 }),
      plan: fc.record({ planId: id, content: words, entries: fc.jsonValue() }, optional),
      planId: id,
      used: fc.nat(),
      cost: fc.record({ amount: fc.double({ noNaN: true, noDefaultInfinity: true }), currency: words }),
    })
    .chain((fields) => fc.constantFrom(...kinds).map((kind) => update(kind, overTheWire(fields)))),
  fc
    .tuple(
      fc.constantFrom(
        'agent.message',
        'turn.started',
        'turn.finished',
        'permission.requested',
        'permission.resolved',
        'question.requested',
        'question.resolved',
        'session.created',
        'session.updated',
        'session.closed',
        'process.output',
      ),
      fc.dictionary(
        fc.oneof(fc.string(), fc.constantFrom('message', 'prompt', 'permission', 'question', 'toolCall')),
        fc.jsonValue(),
      ),
    )
    .map(([type, data]): TestEvent => [type, overTheWire(data)]),
)

/** All events of a session in any order, with gaps and malformed events. */
export const anyConversation: fc.Arbitrary<JournalItem[]> = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: fc.tuple(agentEvent, fc.option(turn, { nil: undefined, freq: 2 })) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    { maxLength: 60, size: 'max' },
  )
  .map((made) =>
    made.map((one, index): JournalItem => {
      if (one === undefined) return gap(index, index, ['agent.message'])
      const [[type, data, context], during] = one
      return event(index + 1, type, data, { session: 'ses_1', ...(during && { turn: during }), ...context })
    }),
  )
