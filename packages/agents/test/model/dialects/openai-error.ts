import type { ModelRefusal } from '../reply.ts'

/** The error format of both OpenAI APIs. */
export function openaiError({ status, message }: ModelRefusal) {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, param: null, code: null } }
}
