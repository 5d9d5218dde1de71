import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { outcome } from '../values.ts'
import { json } from './json.ts'
import { contextUse, cost, modelError, moment, usage } from './session.ts'

export const attachment = component('Attachment', () =>
  z.object({
    type: z.string(),
    mimeType: z.exactOptional(z.string()),
    uri: z.exactOptional(z.string()),
    name: z.exactOptional(z.string()),
    bytes: z.exactOptional(z.int()),
    blob: z.exactOptional(z.string()),
  }),
)

const entryFields = () => ({
  id: z.string(),
  turn: z.exactOptional(z.string()),
  beganAt: moment(),
  changedAt: moment(),
  chars: z.int(),
  cut: z.exactOptional(z.literal(true)),
})

const textFields = () => ({ text: z.string(), attachments: z.exactOptional(z.array(attachment())) })

const message = component('TranscriptMessage', () =>
  z.object({
    ...entryFields(),
    ...textFields(),
    kind: z.literal('message'),
    role: z.enum(['user', 'assistant']),
  }),
)

const thought = component('TranscriptThought', () =>
  z.object({ ...entryFields(), ...textFields(), kind: z.literal('thought') }),
)

const longText = z.union([z.string(), z.object({ blob: z.string(), bytes: z.int() })])

/** The fields of a tool call that an agent reports. */
export const toolCallFields = () => ({
  toolCallId: z.string(),
  status: z.enum(['pending', 'in_progress', 'unfinished', 'cancelled', 'completed', 'failed']),
  title: z.exactOptional(z.string()),
  name: z.exactOptional(z.string()),
  toolKind: z.exactOptional(z.string()),
  subject: z.exactOptional(z.string()),
  locations: z.exactOptional(z.array(z.object({ path: z.string(), line: z.exactOptional(z.number()) }))),
  input: z.exactOptional(json()),
  output: z.exactOptional(json()),
  content: z.exactOptional(
    z.object({
      text: z.string(),
      diffs: z.array(z.object({ path: z.string(), oldText: z.exactOptional(longText), newText: longText })),
      attachments: z.array(attachment()),
    }),
  ),
})

const toolCall = component('TranscriptToolCall', () =>
  z.object({
    ...entryFields(),
    kind: z.literal('toolCall'),
    ...toolCallFields(),
    endedAt: z.exactOptional(moment()),
  }),
)

const answeredFields = () => ({
  resolvedAt: z.exactOptional(moment()),
  outcome: z.exactOptional(outcome()),
  by: z.exactOptional(z.string()),
})

const permission = component('TranscriptPermission', () =>
  z.object({
    ...entryFields(),
    ...answeredFields(),
    kind: z.literal('permission'),
    toolCall: z.exactOptional(z.string()),
    title: z.exactOptional(z.string()),
    options: z.array(
      z.object({
        id: z.string(),
        name: z.exactOptional(z.string()),
        kind: z.exactOptional(z.string()),
      }),
    ),
    answer: z.exactOptional(z.string()),
    option: z.exactOptional(z.string()),
  }),
)

const question = component('TranscriptQuestion', () =>
  z.object({
    ...entryFields(),
    ...answeredFields(),
    kind: z.literal('question'),
    message: z.exactOptional(z.string()),
    mode: z.exactOptional(z.enum(['form', 'url'])),
    schema: z.exactOptional(json()),
    url: z.exactOptional(z.string()),
    action: z.exactOptional(z.enum(['accept', 'decline', 'cancel'])),
    content: z.exactOptional(json()),
  }),
)

const kind = z.enum(['message', 'thought', 'toolCall', 'permission', 'question'])

const turn = component('TranscriptTurn', () =>
  z.object({
    id: z.string(),
    index: z.exactOptional(z.int()),
    startedAt: z.exactOptional(moment()),
    endedAt: z.exactOptional(moment()),
    outcome: z.exactOptional(outcome()),
    stopReason: z.exactOptional(z.string()),
    durationMs: z.exactOptional(z.number()),
    usage: z.exactOptional(usage()),
    cost: z.exactOptional(cost()),
    context: z.exactOptional(contextUse()),
    modelError: z.exactOptional(modelError()),
    errorType: z.exactOptional(z.string()),
    errorCode: z.exactOptional(z.string()),
    errorMessage: z.exactOptional(z.string()),
  }),
)

const plan = component('TranscriptPlan', () =>
  z.object({
    id: z.exactOptional(z.string()),
    entries: z.array(
      z.object({
        content: z.string(),
        status: z.exactOptional(z.string()),
        priority: z.exactOptional(z.string()),
      }),
    ),
    text: z.exactOptional(z.string()),
    uri: z.exactOptional(z.string()),
    changedAt: moment(),
  }),
)

/** Entries by id, split into parts: `{ part: { id: entry } }`. */
function inParts<Entry extends z.ZodMiniType>(entry: Entry) {
  return z.record(z.string(), z.record(z.string(), entry))
}

/** The state of `transcriptView` in `@vitrine/views`. */
export const transcript = component('Transcript', () =>
  z.object({
    agent: z.exactOptional(z.string()),
    title: z.exactOptional(z.string()),
    messages: inParts(message()),
    thoughts: inParts(thought()),
    toolCalls: inParts(toolCall()),
    permissions: inParts(permission()),
    questions: inParts(question()),
    entries: z.array(z.object({ kind, id: z.string() })),
    turns: z.array(turn()),
    plan: z.exactOptional(plan()),
    usage: z.object({
      context: z.exactOptional(z.object({ used: z.number(), size: z.exactOptional(z.number()) })),
      cost: z.exactOptional(cost()),
      tokens: z.exactOptional(usage()),
    }),
    closedAt: z.exactOptional(moment()),
    turn: z.exactOptional(z.string()),
    speaking: z.exactOptional(z.object({ kind, id: z.string(), messageId: z.exactOptional(z.string()) })),
    reused: inParts(z.string()),
    chars: z.int(),
    dropped: z.int(),
    droppedTurns: z.int(),
    complete: z.boolean(),
  }),
)
