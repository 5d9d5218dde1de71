import { type ContentBlock, isVitrineError, type PromptResult, VitrineError } from '@vitrine/protocol'
import { promptBlocks } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { poll, retryIdempotent } from '../http/poll.ts'
import { requestJson, requestVoid } from '../http/request.ts'

const waitMs = 20_000
/** Retries of an idempotent request. */
const maxRetries = 5

export interface TurnRequest {
  /** Id chosen by the client, so that a prompt that is sent twice is one turn. */
  readonly turn: string
  readonly prompt: string | readonly ContentBlock[]
  /** The caller's other options, which the server checks. */
  readonly rest: object
  readonly signal: AbortSignal | undefined
  /** Called when the server has accepted the prompt. */
  onAccepted(): void
}

type TurnStatus = PromptResult | { readonly turn: string; readonly running: true }

/** Sends a prompt and waits for its result. The turn continues at the server if the connection is lost. */
export async function runTurn(http: HttpClient, request: TurnRequest): Promise<PromptResult> {
  const { turn, signal, onAccepted } = request
  await sendPrompt(http, request)
  onAccepted()
  const cancel = () => void cancelTurn(http, turn)
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel)
  try {
    return (await poll(http, () => requestTurn(http, turn, waitMs), isOver)) as PromptResult
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}

/** Sends a prompt; settles once it is on record. */
export async function sendPrompt(
  http: HttpClient,
  { turn, prompt, rest }: Pick<TurnRequest, 'turn' | 'prompt' | 'rest'>,
): Promise<void> {
  // Before it is sent: JSON drops or changes some values.
  promptBlocks(prompt)
  const json = withFields('prompt', rest, { prompt, turn })
  await retryIdempotent(http, maxRetries, () =>
    requestJson(http, { method: 'POST', path: ['prompt'], json, limitMs: http.timeoutMs }),
  )
}

/** The result of a turn, or that it still runs after `wait` milliseconds; throws the error of one that failed. */
export function requestTurn(http: HttpClient, turn: string, wait: number): Promise<TurnStatus> {
  return requestJson<TurnStatus>(http, {
    path: ['turns', turn],
    query: { wait },
    limitMs: wait + http.timeoutMs,
  }).catch((error: unknown) => throwNeverStarted(turn, error))
}

function isOver(status: TurnStatus): boolean {
  return !('running' in status)
}

/**
 * A daemon accepts a prompt once it is on record, and drops it by that record after a restart. Without a record, a power
 * cut has lost the newest commits.
 */
export function throwNeverStarted(turn: string, error: unknown): never {
  if (!isVitrineError(error) || error.code !== 'not_found') throw error
  throw new VitrineError(
    'interrupted',
    `The daemon ended before the turn ${turn} started; none of its work was done. Resume the session and prompt again.`,
    { cause: error, details: { turn } },
  )
}

/** Cancels a turn; errors are ignored, because the turn's result shows whether it was cancelled. */
export async function cancelTurn(http: HttpClient, turn: string): Promise<void> {
  const request = () => requestVoid(http, { method: 'POST', path: ['cancel'], json: { turn } })
  await retryIdempotent(http, maxRetries, request).catch(() => undefined)
}
