import { z } from 'zod'
import { type ConversationItem, lastTurn } from '../completion-request.ts'
import type { ModelReply } from '../reply.ts'
import { Schema } from '../schema.ts'
import { frame } from '../sse.ts'
import { textOf } from '../text-of.ts'

import type { Dialect, ReplyContext } from './dialect.ts'

const Block = z.looseObject({
  type: z.string(),
  text: z.optional(z.string()),
  content: z.optional(z.unknown()),
})
const Message = z.object({ role: z.string(), content: z.union([z.string(), z.array(Block)]) })
const Body = z.object({
  model: z.string(),
  stream: z.optional(z.boolean()),
  messages: z.array(Message),
  tools: z.optional(z.array(z.object({ name: z.string(), input_schema: z.optional(Schema) }))),
  output_config: z.optional(z.object({ format: z.optional(z.object({ schema: z.optional(Schema) })) })),
})

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** Anthropic Messages: `/v1/messages`. */
export const anthropic: Dialect = {
  name: 'anthropic',

  purpose({ pathname }) {
    if (pathname.endsWith('/messages')) return 'answer'
    return pathname.endsWith('/messages/count_tokens') ? 'count' : undefined
  },

  read(body) {
    const { model, stream = false, messages, tools = [], output_config } = Body.parse(body)
    return {
      model,
      stream,
      ...lastTurn(messages.flatMap(said)),
      tools: tools.map(({ name, input_schema }) => ({
        kind: 'function',
        name,
        parameters: input_schema ?? {},
      })),
      shape: output_config?.format?.schema,
    }
  },

  whole(reply, context) {
    const content = blocks(reply, context).map(({ whole }) => whole)
    return { ...message(context), content, stop_reason: stopReason(reply), usage: usage(context) }
  },

  *stream(reply, context) {
    const opening = { ...message(context), usage: { ...usage(context), output_tokens: 1 } }
    yield event({ type: 'message_start', message: opening })
    for (const [index, { start, deltas }] of blocks(reply, context).entries()) {
      yield event({ type: 'content_block_start', index, content_block: start })
      for (const delta of deltas) yield event({ type: 'content_block_delta', index, delta })
      yield event({ type: 'content_block_stop', index })
    }
    const delta = { stop_reason: stopReason(reply), stop_sequence: null }
    yield event({ type: 'message_delta', delta, usage: { output_tokens: context.usage.output } })
    yield event({ type: 'message_stop' })
  },

  refuse({ status, message }) {
    return { type: 'error', error: { type: errorTypes[status] ?? 'api_error', message } }
  },

  count(tokens) {
    return { input_tokens: tokens }
  },
}

/** Tool results are part of user messages, which may also contain the next prompt of the user. */
function said({ role, content }: z.infer<typeof Message>): ConversationItem[] {
  const by = role === 'user' ? 'user' : 'model'
  if (typeof content === 'string') return [{ by, text: content }]
  const all: ConversationItem[] = []
  let texts: string[] = []
  for (const block of content) {
    if (block.type === 'text') texts.push(block.text ?? '')
    if (block.type !== 'tool_result') continue
    if (texts.length > 0) all.push({ by, text: texts.join('\n') })
    texts = []
    all.push({ by: 'tool', text: textOf(block.content) })
  }
  return [...all, { by, text: texts.join('\n') }]
}

function message({ id, ask }: ReplyContext) {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: ask.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  }
}

function usage({ usage: { input, output } }: ReplyContext) {
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  }
}

function stopReason({ call }: ModelReply) {
  return call ? 'tool_use' : 'end_turn'
}

/** Each block at its end, at its start, and its delta events. */
function blocks({ thought, text, call }: ModelReply, { id }: ReplyContext) {
  const all: { whole: object; start: object; deltas: object[] }[] = []
  if (thought.length > 0)
    all.push({
      whole: { type: 'thinking', thinking: thought.join(''), signature: 'c2lnbmVk' },
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...thought.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'c2lnbmVk' },
      ],
    })
  if (text.length > 0)
    all.push({
      whole: { type: 'text', text: text.join('') },
      start: { type: 'text', text: '' },
      deltas: text.map((piece) => ({ type: 'text_delta', text: piece })),
    })
  if (call) {
    const use = { type: 'tool_use', id: `toolu_${id}`, name: call.name }
    all.push({
      whole: { ...use, input: call.input },
      start: { ...use, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(call.input) }],
    })
  }
  return all
}

function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return frame(data, data.type)
}
