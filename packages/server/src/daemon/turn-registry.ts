import type { HostSandbox } from '@vitrine/host'
import { type ContentBlock, type PromptResult, VitrineError } from '@vitrine/protocol'

type Session = Awaited<ReturnType<HostSandbox['openSession']>>

interface RegisteredTurn {
  readonly session: string
  readonly result: Promise<PromptResult>
  readonly cancellation: AbortController
  isOver: boolean
}

const maxTurns = 1_000

/** Turns by id, so that a prompt that is sent twice is one turn, and its result can be fetched after its end. */
export class TurnRegistry {
  readonly #turns = new Map<string, RegisteredTurn>()

  /** Starts a turn, or returns the one with that id; settles when the turn ends. */
  begin(
    sandbox: HostSandbox,
    session: Session,
    turn: string,
    content: string | readonly ContentBlock[],
  ): Promise<PromptResult> {
    const key = keyOf(sandbox.id, turn)
    const known = this.#turns.get(key)
    if (known !== undefined) {
      if (known.session === session.id) return known.result
      throw new VitrineError('work_already_open', `The turn ${turn} belongs to another session.`)
    }
    const cancel = new AbortController()
    const result = session.prompt(content, {
      turn,
      signal: cancel.signal,
      ...(sandbox.context.caller !== undefined && { caller: sandbox.context.caller }),
    })
    const registered: RegisteredTurn = { session: session.id, result, cancellation: cancel, isOver: false }
    const end = () => {
      registered.isOver = true
    }
    result.then(end, end)
    this.#turns.set(key, registered)
    this.#removeFinished()
    return result
  }

  /** The result of a turn; undefined for an unknown turn and for one of another session. */
  result(sandbox: string, session: string, turn: string): Promise<PromptResult> | undefined {
    return this.#find(sandbox, session, turn)?.result
  }

  cancel(sandbox: string, session: string, turn: string): void {
    this.#find(sandbox, session, turn)?.cancellation.abort()
  }

  #find(sandbox: string, session: string, turn: string): RegisteredTurn | undefined {
    const known = this.#turns.get(keyOf(sandbox, turn))
    return known?.session === session ? known : undefined
  }

  /** Removes the oldest finished turns above the limit, never a running one. */
  #removeFinished(): void {
    for (const [key, { isOver: over }] of this.#turns) {
      if (this.#turns.size <= maxTurns) return
      if (over) this.#turns.delete(key)
    }
  }
}

function keyOf(sandbox: string, turn: string): string {
  return `${sandbox} ${turn}`
}
