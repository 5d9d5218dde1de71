import { asFields, countIn, type Fields, fieldsIn, textIn } from '../../fields.ts'
import { sizeText } from '../size.ts'
import { compact } from './compact.ts'

/** A JSON-RPC envelope in a few words: its method and what it carries, or what it answers. */
export function envelopeText(message: Fields): string {
  const method = textIn(message, 'method')
  const id = message.id === undefined || message.id === null ? undefined : `#${compact(message.id)}`
  if (method !== undefined) return joined(method, id, paramsText(fieldsIn(message, 'params')))
  const bytes = 'blob' in message ? countIn(message, 'bytes') : undefined
  if (bytes !== undefined) return `(${sizeText(bytes)} in a blob)`
  if ('error' in message) return joined(id, 'error', errorText(message.error))
  return joined(id, compact('result' in message ? message.result : message))
}

/** A session update says its kind, its text and its status; the prompt its text; anything else is JSON. */
function paramsText(params: Fields): string | undefined {
  const update = fieldsIn(params, 'update')
  const kind = textIn(update, 'sessionUpdate')
  if (kind !== undefined) {
    const subject = textIn(update, 'title') ?? textIn(fieldsIn(update, 'content'), 'text')
    return joined(kind, subject ?? textIn(update, 'toolCallId'), textIn(update, 'status'))
  }
  const prompt = Array.isArray(params.prompt) ? params.prompt : []
  const text = prompt.map((block) => textIn(asFields(block), 'text')).filter(Boolean)
  return text.length > 0 ? text.join(' ') : compact(params)
}

function errorText(error: unknown): string | undefined {
  return textIn(asFields(error), 'message') ?? compact(error)
}

function joined(...words: readonly (string | undefined)[]): string {
  return words.filter(Boolean).join(' ')
}
