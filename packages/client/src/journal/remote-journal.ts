import type {
  JournalItem,
  JournalReader,
  MatchedItem,
  Page,
  ReadOptions,
  Summary,
  SummaryOptions,
  TailOptions,
} from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson } from '../http/request.ts'
import { deepFreeze } from './deep-freeze.ts'
import { tail } from './tail.ts'

/** The journal of a sandbox, read over HTTP. */
export class RemoteJournal implements JournalReader {
  readonly id: string
  readonly #http: HttpClient

  constructor(id: string, http: HttpClient) {
    this.id = id
    this.#http = http
  }

  read<const Pattern extends string = string>(options?: ReadOptions<Pattern>): Promise<Page<Pattern>>
  async read(options: ReadOptions = {}): Promise<Page> {
    const { at, signal, ...rest } = options
    const query = withFields('read', rest, {
      at: at instanceof Date ? at.toISOString() : at,
      wait: undefined,
      scope: undefined,
    })
    return deepFreeze(await requestJson<Page>(this.#http, { path: ['events'], query, signal }))
  }

  tail<const Pattern extends string = string>(
    options?: TailOptions<Pattern>,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  tail(options: TailOptions = {}): AsyncIterableIterator<JournalItem> {
    return tail(this.#http, options)
  }

  summary(options: SummaryOptions = {}): Promise<Summary> {
    const { signal, ...query } = options
    return requestJson(this.#http, { path: ['events', 'summary'], query, signal })
  }
}
