import { z } from 'zod'
import { type ConversationItem, lastTurn } from '../completion-request.ts'
import type { ModelReply } from '../reply.ts'
import { Schema } from '../schema.ts'
import { frame } from '../sse.ts'
import { textOf } from '../text-of.ts'

import type { Dialect, ReplyContext } from './dialect.ts'

const Part = z.looseObject({
  text: z.optional(z.string()),
  functionResponse: z.optional(z.looseObject({ response: z.optional(z.unknown()) })),
})
const Content = z.object({ role: z.optional(z.string()), parts: z.optional(z.array(Part)) })
const Declaration = z.object({
  name: z.string(),
  parameters: z.optional(Schema),
  parametersJsonSchema: z.optional(Schema),
})
const Body = z.object({
  contents: z.array(Content),
  tools: z.optional(z.array(z.looseObject({ functionDeclarations: z.optional(z.array(Declaration)) }))),
  generationConfig: z.optional(
    z.object({ responseJsonSchema: z.optional(Schema), responseSchema: z.optional(Schema) }),
  ),
})

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

const place = /\/models\/([^/:]+):(streamGenerateContent|generateContent|countTokens)$/

/** Gemini: `/v1beta/models/{model}:streamGenerateContent` and its siblings. */
export const gemini: Dialect = {
  name: 'gemini',

  purpose({ pathname }) {
    const [, , verb] = place.exec(pathname) ?? []
    if (verb === undefined) return undefined
    return verb === 'countTokens' ? 'count' : 'answer'
  },

  read(body, { pathname }) {
    const [, model = '', verb] = place.exec(pathname) ?? []
    const { contents, tools = [], generationConfig } = Body.parse(body)
    const declarations = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    return {
      model,
      stream: verb === 'streamGenerateContent',
      ...lastTurn(contents.flatMap(said)),
      tools: declarations.map(({ name, parameters, parametersJsonSchema }) => ({
        kind: 'function',
        name,
        parameters: parametersJsonSchema ?? parameters ?? {},
      })),
      shape: generationConfig?.responseJsonSchema ?? generationConfig?.responseSchema,
    }
  },

  whole(reply, context) {
    return response(parts(reply, context), context, 'STOP')
  },

  *stream(reply, context) {
    const all = parts(reply, context)
    for (const part of all.slice(0, -1)) yield frame(response([part], context))
    yield frame(response(all.slice(-1), context, 'STOP'))
  },

  refuse({ status, message }) {
    return { error: { code: status, message, status: statuses[status] ?? 'UNKNOWN' } }
  },

  count(tokens) {
    return { totalTokens: tokens }
  },
}

function said({ role, parts = [] }: z.infer<typeof Content>): ConversationItem[] {
  const by = role === 'model' ? 'model' : 'user'
  const results = parts.filter(({ functionResponse }) => functionResponse)
  const texts = parts.map(({ text }) => text ?? '').filter((text) => text !== '')
  return [
    ...results.map(
      (part): ConversationItem => ({ by: 'tool', text: textOf(part.functionResponse?.response) }),
    ),
    { by, text: texts.join('\n') },
  ]
}

/** A thought is one part with a heading, because clients show each part as a separate thought. */
function parts({ thought, text, call }: ModelReply, { id }: ReplyContext): object[] {
  return [
    ...(thought.length > 0 ? [{ text: `**Thinking**\n${thought.join('')}`, thought: true }] : []),
    ...text.map((piece) => ({ text: piece })),
    ...(call ? [{ functionCall: { id, name: call.name, args: call.input } }] : []),
  ]
}

function response(
  content: object[],
  { ask, id, usage: { input, output } }: ReplyContext,
  finishReason?: string,
) {
  const candidate = {
    content: { role: 'model', parts: content },
    index: 0,
    ...(finishReason && { finishReason }),
  }
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  }
  return { candidates: [candidate], usageMetadata, modelVersion: ask.model, responseId: id }
}
