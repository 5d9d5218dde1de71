import { asFields, countIn, type Fields, fieldsIn, textIn } from '../../fields.ts'
import { sizeText } from '../../text/size.ts'
import { compact } from './compact.ts'

/** A short summary of a JSON-RPC message: its method and parameters, or its result or error. */
export function envelopeText(message: Fields): string {
  const method = textIn(message, 'method')
  const id = message.id === undefined || message.id === null ? undefined : `#${compact(message.id)}`
  if (method !== undefined) return joinParts(method, id, paramsText(fieldsIn(message, 'params')))
  const bytes = 'blob' in message ? countIn(message, 'bytes') : undefined
  if (bytes !== undefined) return `(${sizeText(bytes)} in a blob)`
  if ('error' in message) return joinParts(id, 'error', errorText(message.error))
  return joinParts(id, compact('result' in message ? message.result : message))
}

/** Kind, text and status of a session update; the text of a prompt; JSON for anything else. */
function paramsText(params: Fields): string | undefined {
  const update = fieldsIn(params, 'update')
  const kind = textIn(update, 'sessionUpdate')
  if (kind !== undefined) {
    const subject = textIn(update, 'title') ?? textIn(fieldsIn(update, 'content'), 'text')
    return joinParts(kind, subject ?? textIn(update, 'toolCallId'), textIn(update, 'status'))
  }
  const prompt = Array.isArray(params.prompt) ? params.prompt : []
  const text = prompt.map((block) => textIn(asFields(block), 'text')).filter(Boolean)
  return text.length > 0 ? text.join(' ') : compact(params)
}

function errorText(error: unknown): string | undefined {
  return textIn(asFields(error), 'message') ?? compact(error)
}

function joinParts(...parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(' ')
}
