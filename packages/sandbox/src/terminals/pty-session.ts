import {
  isVitrineError,
  type Outcome,
  type Process,
  type ProcessExit,
  type PtyUpdate,
  VitrineError,
} from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { fitTokens } from './fit-tokens.ts'
import type { UnreadOutput } from './unread-output.ts'

/** The parts of a process that a session needs. */
export type PtyProcess = Pick<Process, 'id' | 'exit' | 'input' | 'end' | 'kill'>

export type SessionUpdate = Omit<PtyUpdate, 'wallTimeMs'> & { readonly outcome?: Outcome }

/** A process that a model uses through separate calls. */
export class PtySession {
  readonly id: number
  readonly process: PtyProcess
  readonly #tty: boolean
  readonly #unread: UnreadOutput
  readonly #ended: Promise<unknown>
  #end: { readonly exit: ProcessExit } | { readonly error: unknown } | undefined

  constructor(
    id: number,
    process: PtyProcess,
    { tty, unread }: { readonly tty: boolean; readonly unread: UnreadOutput },
  ) {
    this.id = id
    this.process = process
    this.#tty = tty
    this.#unread = unread
    this.#ended = process.exit.then(
      (exit) => {
        this.#end = { exit }
      },
      (error: unknown) => {
        this.#end = { error }
      },
    )
  }

  get exited(): boolean {
    return this.#end !== undefined
  }

  async type(chars: string): Promise<void> {
    if (!this.#tty)
      throw new VitrineError(
        'terminal_required',
        `Session ${this.id} was started without a terminal and takes no input.`,
      )
    if (this.exited) return
    try {
      await this.process.input(chars)
    } catch (error) {
      // The process ended meanwhile: the update reports its exit.
      if (!isVitrineError(error) || (error.code !== 'process_exited' && error.code !== 'input_closed'))
        throw error
    }
  }

  /** Settles when the process has ended, or after this time. */
  async wait(milliseconds: number): Promise<void> {
    await settledWithin(this.#ended, milliseconds, { ref: true })
  }

  /** The new output and, once the process has ended, its exit. */
  update(maxTokens: number): SessionUpdate {
    const end = this.#end
    if (end === undefined) return { sessionId: this.id, ...fitTokens(this.#unread.take(), maxTokens) }
    if ('error' in end) throw end.error
    this.#unread.end()
    return { ...fitTokens(this.#unread.take(), maxTokens), ...end.exit }
  }
}
