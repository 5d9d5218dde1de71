import { type JournalReader, readPages } from '@vitrine/protocol'
import { type Transcript, transcriptView, type View } from '@vitrine/views'

/** The transcript of one session, read incrementally from the last cursor. */
export class SessionTranscript {
  readonly #journal: JournalReader
  readonly #session: string
  readonly #view: View<Transcript>
  #state: Transcript
  #cursor: string | undefined
  #reading: Promise<unknown> = Promise.resolve()

  constructor(journal: JournalReader, session: string) {
    this.#journal = journal
    this.#session = session
    this.#view = transcriptView({ session })
    this.#state = this.#view.empty
  }

  read(): Promise<Transcript> {
    const reading = this.#reading.then(() => this.#readNew())
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  async #readNew(): Promise<Transcript> {
    const after = this.#cursor
    const options = { session: this.#session, ...(after !== undefined && { after }) }
    for await (const { events, cursor } of readPages(this.#journal, options)) {
      this.#state = this.#view.add(this.#state, events)
      this.#cursor = cursor
    }
    return this.#state
  }
}
