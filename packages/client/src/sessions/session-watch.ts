import type { JournalItem } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { tail } from '../journal/tail.ts'

/** How long a prompt waits for the watch before it is sent without it. */
const readyMs = 5_000

/** Tails the events of one session over one connection, for as long as it has users. */
export class SessionWatch {
  readonly #http: HttpClient
  readonly #session: string
  readonly #onItem: (item: JournalItem) => Promise<void>
  #users = 0
  #stop: AbortController | undefined
  #ready: Promise<void> = Promise.resolve()

  /** `http` is scoped to the sandbox. */
  constructor(http: HttpClient, session: string, onItem: (item: JournalItem) => Promise<void>) {
    this.#http = http
    this.#session = session
    this.#onItem = onItem
  }

  /** Adds a user; returns a function that removes it. */
  use(): () => void {
    this.#users += 1
    if (this.#stop === undefined) this.#begin()
    let isUsed = true
    return () => {
      if (!isUsed) return
      isUsed = false
      this.#users -= 1
      if (this.#users === 0) this.#end()
    }
  }

  /** Resolves when the tail is positioned, so that no later event is missed, or after a time limit. */
  async ready(): Promise<void> {
    const over = new AbortController()
    await Promise.race([this.#ready, this.#http.timing.sleep(readyMs, over.signal)])
    over.abort()
  }

  #begin(): void {
    const stop = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stop = stop
    this.#ready = promise
    const options = { session: this.#session, after: 'now', signal: stop.signal, onPositioned: resolve }
    void this.#follow(tail(this.#http, options))
      // The tail failed for good; the next user opens a new one.
      .catch(() => undefined)
      .then(() => {
        resolve()
        if (this.#stop === stop) this.#stop = undefined
      })
  }

  async #follow(items: AsyncIterable<JournalItem>): Promise<void> {
    for await (const item of items) await this.#onItem(item)
  }

  #end(): void {
    this.#stop?.abort()
    this.#stop = undefined
  }
}
