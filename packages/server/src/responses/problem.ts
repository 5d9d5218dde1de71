import { toProblem } from '@vitrine/protocol'
import { securityHeaders } from '../guard/headers.ts'
import { HttpResponse } from '../http/http-response.ts'

/** An error as an `application/problem+json` response. */
export function problemResponse(
  error: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const problem = toProblem(error)
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
