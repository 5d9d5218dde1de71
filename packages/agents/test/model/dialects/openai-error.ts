import type { Refusal } from '../reply.ts'

/** Both APIs of OpenAI say errors alike. */
export function openaiError({ status, message }: Refusal) {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, param: null, code: null } }
}
