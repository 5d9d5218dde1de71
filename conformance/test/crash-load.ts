import { setTimeout as sleep } from 'node:timers/promises'
import type { RemoteSandbox } from '@vitrine/client'
import { isVitrineError, newId, type PromptResult } from '@vitrine/protocol'
import { message } from '../src/events/inputs.ts'
import { background } from '../src/waiting/background.ts'
import { within } from '../src/waiting/within.ts'

export const sessionId = 'talk'

/** A record that was sent, once: its messages, and whether its sender was told that it is there. */
export interface SentRecord {
  readonly messages: readonly string[]
  readonly isAcknowledged: boolean
}

/** Sends one record after the other until it is told to stop, whatever becomes of the daemon. */
export async function write(
  sandbox: RemoteSandbox,
  name: string,
  signal: AbortSignal,
): Promise<readonly SentRecord[]> {
  const records: SentRecord[] = []
  while (!signal.aborted) {
    const messages = ['first', 'second'].map((part) => `${name} ${records.length} ${part}`)
    const isAcknowledged = await survives(sandbox.record(messages.map(message)))
    records.push({ messages, isAcknowledged })
    // Nobody is there just now.
    if (!isAcknowledged) await sleep(50)
  }
  return records
}

/** Whether it was done; a daemon that died of it is no failure. */
export async function survives(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (isVitrineError(error) && error.code === 'connection_failed') return false
    throw error
  }
}

export interface AskedTurn {
  readonly turn: string
  readonly result?: PromptResult
  readonly error?: unknown
}

/** What a daemon has to do when it is killed: a process that counts, and an agent in the middle of a turn. */
export class Work {
  readonly turn = newId('turn')
  readonly mark: string
  readonly #sandbox: RemoteSandbox
  #asked: Promise<AskedTurn> | undefined

  constructor(sandbox: RemoteSandbox, mark: string) {
    this.#sandbox = sandbox
    this.mark = mark
  }

  /** Comes back once it is asked for. */
  async begin(): Promise<void> {
    await this.#sandbox.spawn(counting(this.mark))
    const session = await this.#sandbox.sessions.resumeOrCreate({
      id: sessionId,
      agent: 'demo',
      permissions: 'allow',
    })
    // It never ends by itself, and leaves something behind that ignores its end.
    const content = `/stream 40 64\n/leave sleep ${this.mark}\n/run sleep ${this.mark}`
    const { turn } = this
    this.#asked = background(
      session.prompt(content, { turn }).then(
        (result) => ({ turn, result }),
        (error: unknown) => ({ turn, error }),
      ),
    )
  }

  /** What the caller was told of the turn, where it was asked for; the successor of a dead daemon knows. */
  async asked(): Promise<AskedTurn | undefined> {
    return this.#asked && within(`an answer for ${this.turn}`, this.#asked, 60_000)
  }
}

/** Numbered lines, and beside them a process in a session of its own. */
function counting(mark: string): string {
  return `setsid sleep ${mark} & n=0; while :; do echo "line $n"; n=$((n + 1)); sleep 0.03; done`
}
