import { type ContentBlock, isVitrineError, type PromptResult, VitrineError } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { poll, retryIdempotent } from '../http/poll.ts'
import { requestJson, requestVoid } from '../http/request.ts'

const waitMs = 20_000
/** How often something is asked for again that is the same each time. */
const maxRetries = 5

export interface TurnRequest {
  /** Named by the client: sent twice, it is one turn. */
  readonly turn: string
  readonly prompt: string | readonly ContentBlock[]
  /** More of the caller's options, for the server to know or to refuse. */
  readonly rest: object
  readonly signal: AbortSignal | undefined
  /** The server has it. */
  onAccepted(): void
}

type TurnStatus = PromptResult | { readonly turn: string; readonly running: true }

/** Prompts, and waits for the end: the turn goes on at the server whatever becomes of the connection. */
export async function runTurn(
  http: HttpClient,
  { turn, prompt, rest, signal, onAccepted: onBegun }: TurnRequest,
): Promise<PromptResult> {
  let isRetry = false
  await retryIdempotent(http, maxRetries, () => {
    // A daemon that has it may be gone by now: the one after it looks into the record.
    const json = withFields('prompt', rest, { prompt, turn, again: isRetry || undefined })
    isRetry = true
    return requestJson(http, { method: 'POST', path: ['prompt'], json, limitMs: http.timeoutMs })
  })
  onBegun()
  const cancel = () => void cancelTurn(http, turn)
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel)
  try {
    const request = () =>
      requestJson<TurnStatus>(http, {
        path: ['turns', turn],
        query: { wait: waitMs },
        limitMs: waitMs + http.timeoutMs,
      }).catch((error: unknown) => throwNeverStarted(turn, error))
    return (await poll(http, request, isOver)) as PromptResult
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}

function isOver(status: TurnStatus): boolean {
  return !('running' in status)
}

/** The server had it, and the one after it has no trace: it was still waiting for its turn. */
function throwNeverStarted(turn: string, error: unknown): never {
  if (!isVitrineError(error) || error.code !== 'not_found') throw error
  throw new VitrineError(
    'interrupted',
    `The daemon ended before the turn ${turn} had begun; nothing of it was done. Resume the session and prompt again.`,
    { cause: error, details: { turn } },
  )
}

/** What comes of it is in the result of the turn. */
async function cancelTurn(http: HttpClient, turn: string): Promise<void> {
  const request = () => requestVoid(http, { method: 'POST', path: ['cancel'], json: { turn } })
  await retryIdempotent(http, maxRetries, request).catch(() => undefined)
}
