import { toProblem } from '@vitrine/protocol'
import { securityHeaders } from '../guard/headers.ts'

/** An error as it goes over the wire. */
export function problemResponse(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = toProblem(error)
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      ...securityHeaders,
      ...headers,
      'content-type': 'application/problem+json',
      ...(problem.status === 401 && { 'www-authenticate': 'Bearer' }),
    },
  })
}
