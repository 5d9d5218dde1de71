import { type Command, type ExecOptions, type ExecResult, isVitrineError } from '@vitrine/protocol'
import { toBase64 } from '../http/base64.ts'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { type RequestOptions, requestJson } from '../http/request.ts'
import { bytesOfText, requestBody } from '../http/request-body.ts'
import { timeLimit } from './time-limit.ts'

/** Maximum size of stdin that is sent inside the JSON of the request. */
const inlineBytes = 256 * 1024
/** Maximum length of the options in the query. Percent-encoded it triples at most, which servers still accept. */
const maxQueryLength = 4_000

/** Runs a command to its end. The result has the outcome; throws only if the command did not start. */
export async function exec(http: HttpClient, command: Command, options: ExecOptions): Promise<ExecResult> {
  const { signal } = options
  const began = performance.now()
  try {
    return await requestJson<ExecResult>(http, { ...(await execRequest(command, options)), signal })
  } catch (error) {
    if (!signal?.aborted || !isVitrineError(error) || error.code !== 'cancelled') throw error
    return cancelledAfter(performance.now() - began)
  }
}

async function execRequest(command: Command, options: ExecOptions): Promise<RequestOptions> {
  const { stdin, signal, timeoutMs, ...given } = options
  const request = withFields('exec', given, {
    command,
    timeoutMs: timeLimit(timeoutMs),
    stdinEncoding: undefined,
  })
  const post = { method: 'POST', path: ['exec'] } as const
  if (stdin === undefined) return { ...post, json: request }
  if (typeof stdin === 'string' && stdin.length * 3 <= inlineBytes)
    return { ...post, json: { ...request, stdin } }
  const { body, ...rest } = requestBody('stdin', bytesOfText(stdin), 'input_closed')
  if (signal?.aborted) {
    // The command will not run, so stdin is not needed.
    rest.cancel()
    return { ...post, json: request }
  }
  const query = { options: JSON.stringify(request) }
  const isSmall = body instanceof Uint8Array && body.length <= inlineBytes
  // Addresses end up in logs of proxies, so a secret is never part of one.
  const fitsQuery = options.secrets === undefined && query.options.length <= maxQueryLength
  if (!isSmall && fitsQuery) return { ...post, path: ['exec', 'input'], query, bytes: { body, ...rest } }
  const bytes = body instanceof Uint8Array ? body : new Uint8Array(await new Response(body).arrayBuffer())
  return { ...post, json: { ...request, stdin: toBase64(bytes), stdinEncoding: 'base64' } }
}

function cancelledAfter(durationMs: number): ExecResult {
  return {
    outcome: 'cancelled',
    exitCode: null,
    signal: null,
    stdout: '',
    stderr: '',
    truncated: false,
    durationMs,
  }
}
