import type { EndPiece, StreamPiece } from '@vitrine/protocol'
import type { PullSource } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { ResumedSource } from '../journal/tail.ts'
import { cancelTurn, requestTurn, sendPrompt, type TurnRequest, throwNeverStarted } from './run-turn.ts'

export interface StreamRequest extends TurnRequest {
  /** Only pieces after the one with this cursor. */
  readonly after: string | undefined
  /** Called before a piece is returned that changes the session's state. */
  onChange(): Promise<void>
}

/** The pieces of a turn from its prompt on, over any number of connections. Closing it does not cancel the turn. */
export class RemoteSessionStream implements PullSource<StreamPiece> {
  readonly #http: HttpClient
  readonly #request: StreamRequest
  readonly #sent: Promise<void>
  readonly #pieces: ResumedSource<StreamPiece>
  readonly #cancel = () => void cancelTurn(this.#http, this.#request.turn)
  #end: EndPiece | undefined

  /** `http` is scoped to the session. */
  constructor(http: HttpClient, request: StreamRequest) {
    const { turn, after } = request
    this.#http = http
    this.#request = request
    const plan = { path: ['turns', turn, 'pieces'], query: {}, after, isFinite: true }
    this.#pieces = new ResumedSource(http, plan, ({ event, id }, data) =>
      // The server sends pieces unchanged, and none of those up to the cursor.
      event === undefined ? { item: data as StreamPiece, cursor: id, seq: undefined } : undefined,
    )
    this.#sent = this.#send()
    // The first `next` throws the error.
    this.#sent.catch(() => undefined)
  }

  async next(): Promise<StreamPiece | undefined> {
    if (this.#end !== undefined) return this.#throwFailure(this.#end)
    const { turn, signal, onChange } = this.#request
    await this.#sent
    const piece = await this.#pieces.next().catch((error: unknown) => throwNeverStarted(turn, error))
    if (piece?.type === 'end') {
      this.#end = piece
      this.#pieces.close()
      signal?.removeEventListener('abort', this.#cancel)
    }
    if (piece !== undefined && changesSession(piece)) await onChange()
    return piece
  }

  close(): void {
    this.#pieces.close()
  }

  async #send(): Promise<void> {
    const { signal, onAccepted } = this.#request
    await sendPrompt(this.#http, this.#request)
    onAccepted()
    if (signal?.aborted) this.#cancel()
    signal?.addEventListener('abort', this.#cancel)
  }

  /** The recorded error has more than its piece. */
  async #throwFailure({ turn, outcome }: EndPiece): Promise<undefined> {
    if (outcome === 'failed' || outcome === 'interrupted') await requestTurn(this.#http, turn, 0)
    return undefined
  }
}

/** The stream of a prompt whose signal was aborted before it was sent. */
export function cancelledStream(turn: string): PullSource<StreamPiece> {
  const pieces: StreamPiece[] = [{ type: 'end', turn, outcome: 'cancelled', complete: true }]
  return { next: async () => pieces.shift(), close: () => undefined }
}

function changesSession({ type }: StreamPiece): boolean {
  return type === 'permission' || type === 'question' || type === 'end'
}
