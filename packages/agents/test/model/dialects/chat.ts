import { z } from 'zod'
import { type ConversationItem, lastTurn } from '../completion-request.ts'
import type { ModelReply } from '../reply.ts'
import { Schema } from '../schema.ts'
import { frame } from '../sse.ts'
import { textOf } from '../text-of.ts'

import type { Dialect, ReplyContext } from './dialect.ts'
import { openaiError } from './openai-error.ts'

const Message = z.object({ role: z.string(), content: z.optional(z.unknown()) })
const Body = z.object({
  model: z.string(),
  stream: z.optional(z.boolean()),
  messages: z.array(Message),
  tools: z.optional(
    z.array(z.object({ function: z.object({ name: z.string(), parameters: z.optional(Schema) }) })),
  ),
  response_format: z.optional(
    z.object({ json_schema: z.optional(z.object({ schema: z.optional(Schema) })) }),
  ),
})

/** OpenAI Chat Completions: `/v1/chat/completions`. */
export const chat: Dialect = {
  name: 'openai-chat',

  purpose({ pathname }) {
    return pathname.endsWith('/chat/completions') ? 'answer' : undefined
  },

  read(body) {
    const { model, stream = false, messages, tools = [], response_format } = Body.parse(body)
    return {
      model,
      stream,
      ...lastTurn(messages.map(said)),
      tools: tools.map((tool) => ({
        kind: 'function',
        name: tool.function.name,
        parameters: tool.function.parameters ?? {},
      })),
      shape: response_format?.json_schema?.schema,
    }
  },

  whole(reply, context) {
    const { thought, text, call } = reply
    const message = {
      role: 'assistant',
      content: text.length > 0 ? text.join('') : null,
      ...(thought.length > 0 && { reasoning_content: thought.join('') }),
      ...(call && { tool_calls: [toolCall(call, context)] }),
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(reply) }
    return { ...envelope('chat.completion', context), choices: [choice], usage: usage(context) }
  },

  *stream(reply, context) {
    const { thought, text, call } = reply
    const chunk = (delta: object, finish: string | null = null) =>
      frame({
        ...envelope('chat.completion.chunk', context),
        choices: [{ index: 0, delta, finish_reason: finish }],
      })
    yield chunk({ role: 'assistant', content: '' })
    for (const piece of thought) yield chunk({ reasoning_content: piece })
    for (const piece of text) yield chunk({ content: piece })
    if (call) yield chunk({ tool_calls: [{ index: 0, ...toolCall(call, context) }] })
    yield chunk({}, finishReason(reply))
    // OpenAI sends the usage only if requested; many compatible APIs always send it.
    yield frame({ ...envelope('chat.completion.chunk', context), choices: [], usage: usage(context) })
    yield frame('[DONE]')
  },

  refuse: openaiError,

  count(tokens) {
    return { total_tokens: tokens }
  },
}

function said({ role, content }: z.infer<typeof Message>): ConversationItem {
  const by = role === 'user' || role === 'tool' ? role : 'model'
  return { by, text: textOf(content) }
}

function toolCall({ name, input }: NonNullable<ModelReply['call']>, { id }: ReplyContext) {
  return { id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

function envelope(object: string, { id, ask }: ReplyContext) {
  return { id: `chatcmpl-${id}`, object, created: Math.floor(Date.now() / 1000), model: ask.model }
}

function usage({ usage: { input, output } }: ReplyContext) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function finishReason({ call }: ModelReply) {
  return call ? 'tool_calls' : 'stop'
}
