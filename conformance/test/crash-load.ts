import { setTimeout as sleep } from 'node:timers/promises'
import type { RemoteSandbox } from '@vitrine/client'
import { isVitrineError, newId, type PromptResult } from '@vitrine/protocol'
import { message } from '../src/events/inputs.ts'
import { background } from '../src/waiting/background.ts'
import { withTimeLimit } from '../src/waiting/within.ts'

export const sessionId = 'talk'

/** A record that was sent once: its messages, and whether the daemon acknowledged it. */
export interface SentRecord {
  readonly messages: readonly string[]
  readonly isAcknowledged: boolean
}

/** Sends records until the signal aborts, and continues while the daemon is down. */
export async function write(
  sandbox: RemoteSandbox,
  name: string,
  signal: AbortSignal,
): Promise<readonly SentRecord[]> {
  const records: SentRecord[] = []
  while (!signal.aborted) {
    const messages = ['first', 'second'].map((part) => `${name} ${records.length} ${part}`)
    const isAcknowledged = await completes(sandbox.record(messages.map(message)))
    records.push({ messages, isAcknowledged })
    // The daemon is down.
    if (!isAcknowledged) await sleep(50)
  }
  return records
}

/** Whether the call succeeded; a lost connection is expected and returns false. */
export async function completes(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (isVitrineError(error) && error.code === 'connection_failed') return false
    throw error
  }
}

export interface PromptedTurn {
  readonly turn: string
  readonly result?: PromptResult
  readonly error?: unknown
}

/** Work that runs when the daemon is killed: a counting process, and an agent in the middle of a turn. */
export class Work {
  readonly turn = newId('turn')
  readonly mark: string
  readonly #sandbox: RemoteSandbox
  #prompted: Promise<PromptedTurn> | undefined

  constructor(sandbox: RemoteSandbox, mark: string) {
    this.#sandbox = sandbox
    this.mark = mark
  }

  /** Resolves once the process is spawned and the prompt is sent. */
  async begin(): Promise<void> {
    await this.#sandbox.spawn(counting(this.mark))
    const session = await this.#sandbox.sessions.resumeOrCreate({
      id: sessionId,
      agent: 'demo',
      permissions: 'allow',
    })
    // The turn never ends by itself and leaves a background process.
    const content = `/stream 40 64\n/leave sleep ${this.mark}\n/run sleep ${this.mark}`
    const { turn } = this
    this.#prompted = background(
      session.prompt(content, { turn }).then(
        (result) => ({ turn, result }),
        (error: unknown) => ({ turn, error }),
      ),
    )
  }

  /** The outcome of the turn, if it was prompted; the restarted daemon reports it. */
  async promptedTurn(): Promise<PromptedTurn | undefined> {
    return this.#prompted && withTimeLimit(`the result of ${this.turn}`, this.#prompted, 60_000)
  }
}

/** A command that prints numbered lines and starts a process in its own session. */
function counting(mark: string): string {
  return `setsid sleep ${mark} & n=0; while :; do echo "line $n"; n=$((n + 1)); sleep 0.03; done`
}
