import type { JournalReader } from '@vitrine/protocol'
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
    for (;;) {
      const after = this.#cursor
      const page = await this.#journal.read({
        session: this.#session,
        ...(after !== undefined && { after }),
      })
      this.#state = this.#view.add(this.#state, page.events)
      this.#cursor = page.cursor
      if (page.end) return this.#state
    }
  }
}
