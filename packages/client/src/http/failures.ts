import { fromProblem, isVitrineError, VitrineError } from '@vitrine/protocol'

/** An error of the connection, not of the requested operation. */
export function connectionFailed(message: string, cause?: unknown, httpStatus?: number): VitrineError {
  return new VitrineError('connection_failed', message, {
    ...(cause !== undefined && { cause }),
    ...(httpStatus !== undefined && { details: { httpStatus } }),
  })
}

/** The error that an unsuccessful response describes. */
export async function failureOf(response: Response, endpoint: string): Promise<VitrineError> {
  const { status } = response
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    return connectionFailed(
      `${endpoint}: the connection broke while reading the response (${status}).`,
      error,
      status,
    )
  }
  const body = parse(text)
  if (isProblem(body)) return fromProblem(body)
  const type = response.headers.get('content-type') ?? 'none'
  return connectionFailed(
    `${endpoint}: expected a Vitrine response, got ${status} with content-type ${type}.`,
    undefined,
    status,
  )
}

/** Whether a body is a problem. With keep-alive, a response that began with 200 can end with one. */
export function isProblemBody(body: unknown): boolean {
  return isProblem(body) && typeof body.type === 'string' && body.type.startsWith('urn:vitrine:error:')
}

function isProblem(value: unknown): value is { readonly code: string; readonly type?: unknown } {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const transportCodes: ReadonlySet<string> = new Set([
  'connection_failed',
  'server_closing',
  'too_many_connections',
])

/** Whether the outcome of a request is unknown, so that an idempotent one may be retried. */
export function isTransportFailure(error: unknown): boolean {
  return isVitrineError(error) && transportCodes.has(error.code) && !isWrongServer(error)
}

/** Whether a stream that ended with this error may be reopened. */
export function isTransient(error: unknown): boolean {
  if (isTransportFailure(error)) return true
  if (!isVitrineError(error) || error.code === 'connection_failed') return false
  const { status, retryable } = error
  return status === 408 || status === 429 || (status >= 500 && retryable !== false)
}

/** The response did not come from Vitrine, and a retry would get the same one. */
function isWrongServer({ details }: VitrineError): boolean {
  const { httpStatus } = details
  return typeof httpStatus === 'number' && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 429
}
