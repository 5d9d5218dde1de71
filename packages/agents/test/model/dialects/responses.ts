import { z } from 'zod'
import { type ConversationItem, lastTurn } from '../completion-request.ts'
import type { ModelReply } from '../reply.ts'
import { Schema } from '../schema.ts'
import { frame } from '../sse.ts'
import { textOf } from '../text-of.ts'
import type { Tool } from '../tools.ts'
import type { Dialect, ReplyContext } from './dialect.ts'
import { openaiError } from './openai-error.ts'

const Item = z.looseObject({
  type: z.optional(z.string()),
  role: z.optional(z.string()),
  content: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
})
const OfferedTool = z.looseObject({
  type: z.string(),
  name: z.optional(z.string()),
  parameters: z.optional(z.nullable(Schema)),
})
const Body = z.object({
  model: z.string(),
  stream: z.optional(z.boolean()),
  input: z.union([z.string(), z.array(Item)]),
  tools: z.optional(z.array(OfferedTool)),
  text: z.optional(z.object({ format: z.optional(z.object({ schema: z.optional(Schema) })) })),
})

/** OpenAI Responses: `/v1/responses`. */
export const responses: Dialect = {
  name: 'openai-responses',

  purpose({ pathname }) {
    return pathname.endsWith('/responses') ? 'answer' : undefined
  },

  read(body) {
    const { model, stream = false, input, tools = [], text } = Body.parse(body)
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    return {
      model,
      stream,
      ...lastTurn(items.map(said)),
      tools: tools.flatMap(offered),
      shape: text?.format?.schema,
    }
  },

  whole(reply, context) {
    return completed(reply, context)
  },

  *stream(reply, context) {
    let sequence = 0
    const event = (type: string, rest: object) => frame({ type, sequence_number: sequence++, ...rest }, type)
    yield event('response.created', { response: opened(context) })
    yield event('response.in_progress', { response: opened(context) })
    for (const [output_index, { start, steps, whole }] of outputs(reply, context).entries()) {
      yield event('response.output_item.added', { output_index, item: start })
      for (const { type, ...step } of steps) yield event(type, { item_id: whole.id, output_index, ...step })
      yield event('response.output_item.done', { output_index, item: whole })
    }
    yield event('response.completed', { response: completed(reply, context) })
  },

  refuse: openaiError,

  count(tokens) {
    return { object: 'response.input_tokens', input_tokens: tokens }
  },
}

function said({ type = 'message', role, content, output }: z.infer<typeof Item>): ConversationItem {
  if (type.endsWith('_call_output')) return { by: 'tool', text: textOf(output) }
  const by = type === 'message' && role === 'user' ? 'user' : 'model'
  return { by, text: textOf(content) }
}

/** Ignores tools that the provider runs itself, such as a web search. */
function offered({ type, name, parameters }: z.infer<typeof OfferedTool>): Tool[] {
  if (name === undefined) return []
  if (type === 'function') return [{ kind: 'function', name, parameters: parameters ?? {} }]
  return type === 'custom' ? [{ kind: 'text', name }] : []
}

interface Output {
  readonly start: object
  readonly steps: readonly { readonly type: string; readonly [field: string]: unknown }[]
  readonly whole: { readonly id: string; readonly [field: string]: unknown }
}

/** Each item at its start, its delta events, and at its end. */
function outputs({ thought, text, call }: ModelReply, { id }: ReplyContext): Output[] {
  const all: Output[] = []
  if (thought.length > 0) all.push(reasoning(`rs_${id}`, thought))
  if (text.length > 0) all.push(message(`msg_${id}`, text))
  if (call?.kind === 'function') {
    const item = { id: `fc_${id}`, type: 'function_call', call_id: `call_${id}`, name: call.name }
    const filled = JSON.stringify(call.input)
    all.push({
      start: { ...item, status: 'in_progress', arguments: '' },
      steps: [
        { type: 'response.function_call_arguments.delta', delta: filled },
        { type: 'response.function_call_arguments.done', arguments: filled },
      ],
      whole: { ...item, status: 'completed', arguments: filled },
    })
  }
  if (call?.kind === 'text') {
    const item = { id: `ctc_${id}`, type: 'custom_tool_call', call_id: `call_${id}`, name: call.name }
    all.push({
      start: { ...item, status: 'in_progress', input: '' },
      steps: [
        { type: 'response.custom_tool_call_input.delta', delta: call.input },
        { type: 'response.custom_tool_call_input.done', input: call.input },
      ],
      whole: { ...item, status: 'completed', input: call.input },
    })
  }
  return all
}

function reasoning(id: string, thought: readonly string[]): Output {
  const text = thought.join('')
  const summary_index = 0
  const part = { type: 'summary_text', text }
  return {
    start: { id, type: 'reasoning', summary: [] },
    steps: [
      { type: 'response.reasoning_summary_part.added', summary_index, part: { ...part, text: '' } },
      ...thought.map((delta) => ({ type: 'response.reasoning_summary_text.delta', summary_index, delta })),
      { type: 'response.reasoning_summary_text.done', summary_index, text },
      { type: 'response.reasoning_summary_part.done', summary_index, part },
    ],
    whole: { id, type: 'reasoning', summary: [part], encrypted_content: null },
  }
}

function message(id: string, pieces: readonly string[]): Output {
  const text = pieces.join('')
  const content_index = 0
  const part = { type: 'output_text', text, annotations: [] }
  const item = { id, type: 'message', role: 'assistant' }
  return {
    start: { ...item, status: 'in_progress', content: [] },
    steps: [
      { type: 'response.content_part.added', content_index, part: { ...part, text: '' } },
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', content_index, delta })),
      { type: 'response.output_text.done', content_index, text },
      { type: 'response.content_part.done', content_index, part },
    ],
    whole: { ...item, status: 'completed', content: [part] },
  }
}

function opened({ id, ask }: ReplyContext) {
  const created_at = Math.floor(Date.now() / 1000)
  const envelope = { id: `resp_${id}`, object: 'response', created_at, model: ask.model }
  return { ...envelope, status: 'in_progress', error: null, output: [], usage: null }
}

function completed(reply: ModelReply, context: ReplyContext) {
  const { input, output } = context.usage
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  }
  return {
    ...opened(context),
    status: 'completed',
    output: outputs(reply, context).map(({ whole }) => whole),
    usage,
  }
}
