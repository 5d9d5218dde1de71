import type {
  ByteRange,
  ExportedItem,
  ExportOptions,
  JournalItem,
  JournalOrigin,
  MatchedItem,
  Page,
  ReadOptions,
  RememberedHead,
  Summary,
  SummaryOptions,
  TailExportOptions,
  TailOptions,
  Verification,
  VerifyOptions,
} from '@vitrine/protocol'
import { itemCursor } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { checkKeys } from '../http/options.ts'
import { readRange } from '../http/read-range.ts'
import { requestJson } from '../http/request.ts'
import { deepFreeze } from './deep-freeze.ts'
import { readEvents, summarizeEvents } from './read-events.ts'
import { tail } from './tail.ts'
import { tailExport } from './tail-export.ts'

/** The journal of a sandbox, read over HTTP. */
export class RemoteJournal implements JournalOrigin {
  readonly id: string
  readonly #http: HttpClient

  constructor(id: string, http: HttpClient) {
    this.id = id
    this.#http = http
  }

  read<const Pattern extends string = string>(options?: ReadOptions<Pattern>): Promise<Page<Pattern>>
  read(options: ReadOptions = {}): Promise<Page> {
    return readEvents(this.#http, options, { scope: undefined, journals: undefined })
  }

  tail<const Pattern extends string = string>(
    options?: TailOptions<Pattern>,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  tail(options: TailOptions = {}): AsyncIterableIterator<JournalItem> {
    return tail(this.#http, options)
  }

  summary(options: SummaryOptions = {}): Promise<Summary> {
    return summarizeEvents(this.#http, options, { scope: undefined, journals: undefined })
  }

  cursor(item: JournalItem): string {
    return itemCursor(this.id, item)
  }

  blob(hash: string, range: ByteRange = {}): Promise<ReadableStream<Uint8Array>> {
    return readRange(this.#http, { path: ['blobs', hash] }, range)
  }

  /** The newest `seq` and its hash. Passed to `verify` later, it detects removed trailing events. */
  head(): Promise<RememberedHead> {
    return requestJson(this.#http, { path: ['journal', 'head'] })
  }

  async verify(options: VerifyOptions = {}): Promise<Verification> {
    checkKeys('verify', options, { head: true, signal: true })
    const { head, signal } = options
    const query = { seq: head?.seq, hash: head?.hash }
    // It takes as long as the journal is large; the daemon sends spaces meanwhile.
    return requestJson(this.#http, { path: ['journal', 'verify'], query, signal, limitMs: 'none' })
  }

  async export({ signal, ...query }: ExportOptions = {}): Promise<readonly ExportedItem[]> {
    const path = ['journal', 'export']
    const { items } = await requestJson<{ items: ExportedItem[] }>(this.#http, { path, query, signal })
    return deepFreeze(items)
  }

  tailExport(options: TailExportOptions = {}): AsyncIterableIterator<ExportedItem> {
    return tailExport(this.#http, options)
  }
}
