import { type JournalReader, readPages } from '@vitrine/protocol'
import { Serial, TimeSlice } from '@vitrine/protocol/primitives'
import { type Transcript, transcriptView, type View } from '@vitrine/views'

/** The transcript of one session, read incrementally from the last cursor. */
export class SessionTranscript {
  readonly #journal: JournalReader
  readonly #session: string
  readonly #view: View<Transcript>
  readonly #serial = new Serial()
  #state: Transcript
  #cursor: string | undefined

  constructor(journal: JournalReader, session: string) {
    this.#journal = journal
    this.#session = session
    this.#view = transcriptView({ session })
    this.#state = this.#view.empty
  }

  read(): Promise<Transcript> {
    return this.#serial.run(() => this.#readNew())
  }

  async #readNew(): Promise<Transcript> {
    const after = this.#cursor
    const options = { session: this.#session, ...(after !== undefined && { after }) }
    const slice = new TimeSlice()
    for await (const { events, cursor } of readPages(this.#journal, options)) {
      if (slice.expired) await slice.yieldToEventLoop()
      this.#state = this.#view.add(this.#state, events)
      this.#cursor = cursor
    }
    return this.#state
  }
}
