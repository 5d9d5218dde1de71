import { fromProblem, isVitrineError, VitrineError } from '@vitrine/protocol'

/** The connection, and not what was asked for, is what failed. */
export function connectionFailed(message: string, cause?: unknown, httpStatus?: number): VitrineError {
  return new VitrineError('connection_failed', message, {
    ...(cause !== undefined && { cause }),
    ...(httpStatus !== undefined && { details: { httpStatus } }),
  })
}

/** What an answer says that is no success. */
export async function failureOf(response: Response, endpoint: string): Promise<VitrineError> {
  const { status } = response
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    return connectionFailed(`${endpoint}: the answer ${status} broke off.`, error, status)
  }
  const body = parse(text)
  if (isProblem(body)) return fromProblem(body)
  const type = response.headers.get('content-type') ?? 'nothing'
  return connectionFailed(
    `${endpoint}: expected an answer of Vitrine, got ${status} with ${type}.`,
    undefined,
    status,
  )
}

/** An error that came after the answer had begun with a success: work that took long. */
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

/** Nothing is known of what was asked for: asked again, it may be answered. */
export function isTransportFailure(error: unknown): boolean {
  return isVitrineError(error) && transportCodes.has(error.code) && !isWrongServer(error)
}

/** A stream that ended like this may be opened again. */
export function isTransient(error: unknown): boolean {
  if (isTransportFailure(error)) return true
  if (!isVitrineError(error) || error.code === 'connection_failed') return false
  const { status, retryable } = error
  return status === 408 || status === 429 || (status >= 500 && retryable !== false)
}

/** Somebody answered who is not Vitrine, and would answer the same again. */
function isWrongServer({ details }: VitrineError): boolean {
  const { httpStatus } = details
  return typeof httpStatus === 'number' && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 429
}
