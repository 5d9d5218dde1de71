import { Answer } from '../exchange/answer.ts'
import { securityHeaders } from '../guard/headers.ts'

export const jsonHeaders = { ...securityHeaders, 'content-type': 'application/json' }

export function json(status: number, value: unknown): Answer {
  return new Answer(status, jsonHeaders, JSON.stringify(value))
}
