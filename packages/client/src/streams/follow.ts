import type { HttpClient } from '../http/http-client.ts'
import type { RequestOptions } from '../http/request.ts'
import { askFrames, dataOf, errorOf, type FrameReader } from './frame-reader.ts'
import { PullIterator, type Source } from './pull-iterator.ts'

/** The items of a stream that has an end, and cannot be taken up again: cut before that, it is an error. */
export function follow<Item>(
  http: HttpClient,
  { signal, ...asked }: RequestOptions,
  toItem: (data: unknown) => Item,
): AsyncIterableIterator<Item, undefined> {
  return new PullIterator(new Followed(http, asked, toItem), signal)
}

class Followed<Item> implements Source<Item> {
  readonly #wire: HttpClient
  readonly #asked: RequestOptions
  readonly #toItem: (data: unknown) => Item
  readonly #left = new AbortController()
  #frames: FrameReader | undefined

  constructor(http: HttpClient, asked: RequestOptions, toItem: (data: unknown) => Item) {
    this.#wire = http
    this.#asked = asked
    this.#toItem = toItem
  }

  async next(): Promise<Item | undefined> {
    this.#frames ??= await askFrames(this.#wire, { ...this.#asked, until: this.#left.signal })
    for (;;) {
      const frame = await this.#frames.next()
      if (frame === undefined) throw this.#frames.cut()
      if (frame.event === 'end') return this.#ended(dataOf(frame))
      if (frame.event === 'error') throw errorOf(frame)
      if (frame.event === undefined) return this.#toItem(dataOf(frame))
    }
  }

  /** A server that goes down ends its streams as well; what they show has not ended. */
  #ended(said: unknown): undefined {
    const { reason = 'over' } = said as { readonly reason?: string }
    if (reason !== 'over') throw this.#frames?.cut()
    return undefined
  }

  close(): void {
    this.#left.abort()
    this.#frames?.close()
  }
}
