import type { Journal } from '@vitrine/journal'
import type {
  ContentBlock,
  EventContext,
  HostCallContext,
  JsonObject,
  PromptResult,
  VitrineError,
} from '@vitrine/protocol'
import { shownBlocks } from './prompt-content.ts'
import type { TurnRecord } from './recorded-turn.ts'
import { type TurnCaller, turnContext } from './turn-context.ts'

/** A prompt and the turn that it becomes: the same for every caller that sends it with the same id. */
export interface JoinedTurn {
  readonly turn: string
  /** Settles once the prompt is on record; rejects when it is refused. */
  readonly accepted: Promise<void>
  readonly result: Promise<PromptResult>
  /** Set if nothing of it is on record. */
  readonly unrecorded?: true
}

export interface PromptedTurnOptions {
  readonly session: string
  readonly turn: string
  readonly blocks: readonly ContentBlock[]
  readonly promptHash: string
  readonly caller: TurnCaller
  readonly journal: Journal
}

/** A prompt of this process, from the call until its end is recorded. */
export class PromptedTurn implements JoinedTurn {
  readonly session: string
  readonly turn: string
  /** Empty once it has ended, because results stay in memory for longer than prompts. */
  blocks: readonly ContentBlock[]
  readonly promptHash: string
  /** The context of its events. */
  readonly context: EventContext
  /** The context of the calls that its agent makes. */
  readonly callContext: HostCallContext
  /** Appends with the context of its events. */
  readonly journal: Journal
  state: TurnRecord['state'] | 'new' = 'new'
  /** The `seq` of its newest event; undefined while it is on no record. */
  seq: number | undefined
  readonly #accepted = Promise.withResolvers<void>()
  readonly #result = Promise.withResolvers<PromptResult>()

  constructor({ session, turn, blocks, promptHash, caller, journal }: PromptedTurnOptions) {
    this.session = session
    this.turn = turn
    this.blocks = blocks
    this.promptHash = promptHash
    this.context = turnContext(caller, { session, turn })
    this.callContext = { ...caller, session, turn }
    this.journal = journal.as({ ...this.context, source: 'host' })
    this.#accepted.promise.catch(() => undefined)
    this.#result.promise.catch(() => undefined)
  }

  get accepted(): Promise<void> {
    return this.#accepted.promise
  }

  get result(): Promise<PromptResult> {
    return this.#result.promise
  }

  /** Settles with its end, whatever it is. */
  get over(): Promise<unknown> {
    return this.#result.promise.catch(() => undefined)
  }

  /** Its newest event in the journal; undefined while it is on no record. */
  get record(): TurnRecord | undefined {
    const { session, promptHash, state, seq } = this
    return state === 'new' || seq === undefined ? undefined : { session, promptHash, state, seq }
  }

  /** The prompt as `prompt.*` and `turn.started` show it. */
  get shown(): JsonObject {
    return { prompt: shownBlocks(this.blocks), promptHash: this.promptHash }
  }

  setAccepted(): void {
    this.#accepted.resolve()
  }

  end(result: PromptResult | VitrineError): void {
    this.blocks = []
    if (result instanceof Error) {
      this.#accepted.reject(result)
      this.#result.reject(result)
    } else {
      this.#accepted.resolve()
      this.#result.resolve(result)
    }
  }
}
