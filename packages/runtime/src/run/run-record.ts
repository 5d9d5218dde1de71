import {
  isGap,
  isVitrineError,
  type JournalItem,
  type Outcome,
  readPages,
  type Sandbox,
} from '@vitrine/protocol'

/** The start of a run as it is recorded. */
export interface RunStart {
  readonly name: string
  readonly agent: string
  /** The run that it continues. */
  readonly continues?: string
}

/** The end of a run as it is recorded. */
export interface RunEnd {
  readonly outcome: Outcome
  /** Why it was interrupted. */
  readonly errorMessage?: string
}

/**
 * A run in the journal of its sandbox: one start and one end. The host writes the end itself if it was killed, or if the
 * sandbox is destroyed; the run then does not write another one.
 */
export class RunRecord {
  readonly id: string
  readonly #box: Sandbox
  readonly #session: string
  #starting: Promise<void> | undefined
  /** The first outcome that was to be recorded: the response to it may have been lost. */
  #outcome: Outcome | undefined
  #end: RunEnd | undefined

  constructor(id: string, box: Sandbox, session: string) {
    this.id = id
    this.#box = box
    this.#session = session
  }

  start(data: RunStart): Promise<void> {
    this.#starting = this.#write('run.started', { ...data })
    return this.#starting
  }

  /** Its end in the journal after the cursor. */
  async endSince(after: string | undefined): Promise<RunEnd | undefined> {
    const since = after === undefined ? {} : { after }
    const query = { ...since, run: this.id, types: ['run.finished'] as const }
    for await (const { events } of readPages(this.#box.journal, query))
      for (const item of events) this.see(item)
    return this.#end
  }

  /** Takes an event that was read. */
  see(item: JournalItem): void {
    if (item.type !== 'run.finished' || isGap(item) || item.run !== this.id) return
    const { outcome, errorMessage } = item.data
    this.#end = { outcome, ...(typeof errorMessage === 'string' && { errorMessage }) }
  }

  /**
   * Ends the run; returns the outcome that its journal has, undefined if that cannot be read. Also after a start that failed:
   * it may be on record. If it fails, it can be called again.
   */
  async finish(outcome: Outcome): Promise<Outcome | undefined> {
    await this.#starting?.catch(() => undefined)
    if (this.#end !== undefined) return this.#end.outcome
    this.#outcome ??= outcome
    try {
      await this.#write('run.finished', { outcome: this.#outcome })
      return this.#outcome
    } catch (error) {
      if (!isVitrineError(error) || !endedElsewhere.has(error.code)) throw error
      return (await this.endSince(undefined).catch(() => undefined))?.outcome
    }
  }

  /** Under an id, so that a request that is repeated does not record it twice. */
  async #write(type: 'run.started' | 'run.finished', data: Readonly<Record<string, unknown>>): Promise<void> {
    const event = { type, run: this.id, session: this.#session, data }
    await this.#box.record([event], { id: `${this.id}.${type}` })
  }
}

const endedElsewhere: ReadonlySet<string> = new Set(['work_not_open', 'sandbox_destroyed', 'store_closed'])

/** The newest run of a session. */
export async function lastRunOf(box: Sandbox, session: string): Promise<string | undefined> {
  const { events } = await box.journal.read({ types: ['run.started'], session, order: 'desc', limit: 1 })
  const [newest] = events
  return newest !== undefined && !isGap(newest) ? newest.run : undefined
}
