import { Answer } from '../exchange/answer.ts'
import { securityHeaders } from '../guard/headers.ts'

const headers = { ...securityHeaders, 'content-type': 'application/json' }

export function json(status: number, value: unknown): Answer {
  return new Answer(status, headers, JSON.stringify(value))
}
