import { PullIterator, type PullSource } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import type { RequestOptions } from '../http/request.ts'
import { dataOf, errorOf, type FrameReader, requestFrames } from './frame-reader.ts'

/** The items of a finite stream that cannot be resumed: a connection that is lost before its end is an error. */
export function follow<Item>(
  http: HttpClient,
  { signal, ...options }: RequestOptions,
  toItem: (data: unknown) => Item,
): AsyncIterableIterator<Item, undefined> {
  return new PullIterator(new FollowSource(http, options, toItem), signal)
}

class FollowSource<Item> implements PullSource<Item> {
  readonly #http: HttpClient
  readonly #options: RequestOptions
  readonly #toItem: (data: unknown) => Item
  readonly #closed = new AbortController()
  #frames: FrameReader | undefined

  constructor(http: HttpClient, options: RequestOptions, toItem: (data: unknown) => Item) {
    this.#http = http
    this.#options = options
    this.#toItem = toItem
  }

  async next(): Promise<Item | undefined> {
    this.#frames ??= await requestFrames(this.#http, { ...this.#options, until: this.#closed.signal })
    for (;;) {
      const frame = await this.#frames.next()
      if (frame === undefined) throw this.#frames.cutError()
      if (frame.event === 'end') return this.#ended(dataOf(frame))
      if (frame.event === 'error') throw errorOf(frame)
      if (frame.event === undefined) return this.#toItem(dataOf(frame))
    }
  }

  /** Throws if the stream ended because the server shuts down: the process that it shows goes on. */
  #ended(data: unknown): undefined {
    const { reason = 'complete' } = data as { readonly reason?: string }
    if (reason !== 'complete') throw this.#frames?.cutError()
    return undefined
  }

  close(): void {
    this.#closed.abort()
    this.#frames?.close()
  }
}
