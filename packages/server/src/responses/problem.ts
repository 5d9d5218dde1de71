import type { Problem } from '@vitrine/protocol'
import { securityHeaders } from '../guard/headers.ts'
import { HttpResponse } from '../http/http-response.ts'

/** A problem as an `application/problem+json` response. */
export function problemResponse(
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return new HttpResponse(
    problem.status,
    {
      ...securityHeaders,
      ...headers,
      'content-type': 'application/problem+json',
      ...(problem.status === 401 && { 'www-authenticate': 'Bearer' }),
    },
    JSON.stringify(problem),
  )
}
