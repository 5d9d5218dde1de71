import { VitrineError } from '@vitrine/protocol'
import { type PayloadPolicy, sinkRules } from '../policy/policy.ts'
import { eventFilter } from '../read/reader.ts'
import { type FeedSource, SinkFeed, type SinkState } from './feed.ts'
import type { Sink } from './sink.ts'

export interface AddSinkOptions {
  readonly types?: readonly string[]
  /** Limits the payloads that the sink gets; it cannot add data that the journal omitted. */
  readonly policy?: PayloadPolicy
  /** Where a sink with a new name starts; default `start`. */
  readonly from?: 'start' | 'now'
}

/** A sink that was added. Its cursor stays stored after closing. */
export interface SinkHandle {
  readonly name: string
  readonly state: SinkState
  close(): Promise<void>
}

/** The sinks of a store, by name. */
export class Sinks {
  readonly #source: FeedSource
  readonly #feeds = new Map<string, SinkFeed>()
  /** Names whose cursor is being looked up, so that two concurrent calls do not both add the name. */
  readonly #adding = new Set<string>()

  constructor(source: FeedSource) {
    this.#source = source
  }

  get states(): readonly SinkState[] {
    return [...this.#feeds.values()].map((feed) => feed.state)
  }

  async add(name: string, sink: Sink, options: AddSinkOptions): Promise<SinkHandle> {
    if (typeof name !== 'string' || name === '')
      throw new VitrineError('argument_invalid', 'addSink: expected a non-empty name.')
    if (typeof sink?.write !== 'function') {
      throw new VitrineError(
        'argument_invalid',
        `addSink "${name}": expected a sink, such as jsonlSink({ path }), or an object with \`write\`.`,
      )
    }
    if (this.#feeds.has(name) || this.#adding.has(name))
      throw new VitrineError('sink_exists', `There is already a sink "${name}".`)
    this.#adding.add(name)
    try {
      const { types, policy, from } = options
      const filter = eventFilter(types === undefined ? {} : { types })
      const rules = policy && sinkRules(policy)
      const position = await this.#loadOrCreateCursor(name, from)
      const feed = new SinkFeed(this.#source, name, sink, { position, filter, rules })
      this.#feeds.set(name, feed)
      return this.#handleOf(feed)
    } finally {
      this.#adding.delete(name)
    }
  }

  async #loadOrCreateCursor(name: string, from: AddSinkOptions['from']): Promise<number> {
    const { connection, committer } = this.#source
    const stored = await connection.sinkCursor(name)
    if (stored !== undefined) return stored
    const position = from === 'now' ? committer.position : 0
    await committer.runExclusive(() => connection.setSinkCursor(name, position))
    return position
  }

  #handleOf(feed: SinkFeed): SinkHandle {
    return {
      name: feed.name,
      get state() {
        return feed.state
      },
      close: async () => {
        await feed.close()
        if (this.#feeds.get(feed.name) === feed) this.#feeds.delete(feed.name)
      },
    }
  }

  /** Resolves once every sink has received everything up to a position. */
  async caughtUp(position: number, signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#feeds.values()].map((feed) => feed.caughtUp(position, signal)))
  }

  async close(): Promise<void> {
    // An error on closing is ignored here; the `close()` of a single sink reports it.
    await Promise.allSettled([...this.#feeds.values()].map((feed) => feed.close()))
  }
}
