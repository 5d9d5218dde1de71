import type { HostSandbox } from '@vitrine/host'
import { type ContentBlock, type PromptResult, type Session, VitrineError } from '@vitrine/protocol'

interface Turn {
  readonly session: string
  readonly result: Promise<PromptResult>
  readonly cancel: AbortController
  over: boolean
}

const kept = 1_000

/** Turns that callers began, by their ids: sent twice, a prompt is one turn; asked late, its end is still known. */
export class Turns {
  readonly #turns = new Map<string, Turn>()

  /** Begins a turn, or finds the one of that id; settles as the turn ends. */
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
    const result = session.prompt(content, { turn, signal: cancel.signal })
    const begun: Turn = { session: session.id, result, cancel, over: false }
    const end = () => {
      begun.over = true
    }
    result.then(end, end)
    this.#turns.set(key, begun)
    this.#forget()
    return result
  }

  /** How it ended, once it has; nothing for a turn that is not known here, or is another session's. */
  result(sandbox: string, session: string, turn: string): Promise<PromptResult> | undefined {
    return this.#find(sandbox, session, turn)?.result
  }

  cancel(sandbox: string, session: string, turn: string): void {
    this.#find(sandbox, session, turn)?.cancel.abort()
  }

  #find(sandbox: string, session: string, turn: string): Turn | undefined {
    const known = this.#turns.get(keyOf(sandbox, turn))
    return known?.session === session ? known : undefined
  }

  /** The oldest that are over; one that runs is not forgotten. */
  #forget(): void {
    for (const [key, { over }] of this.#turns) {
      if (this.#turns.size <= kept) return
      if (over) this.#turns.delete(key)
    }
  }
}

function keyOf(sandbox: string, turn: string): string {
  return `${sandbox} ${turn}`
}
