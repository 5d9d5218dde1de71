import { securityHeaders } from '../guard/headers.ts'

export function json(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { ...securityHeaders, 'content-type': 'application/json' },
  })
}
