import type {
  AgentInfo,
  AttachSandboxOptions,
  ByteRange,
  Command,
  CommandPolicyOptions,
  CreateSandboxOptions,
  JournalFilter,
  JournalItem,
  ListSandboxesOptions,
  MatchedItem,
  Page,
  Pruned,
  PruneOptions,
  ReadOptions,
  SandboxClient,
  SandboxInfo,
  Summary,
  SummaryOptions,
  TailOptions,
} from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import { itemCursorOfAll, ObserverErrors } from '@vitrine/protocol/primitives'
import type { HttpClient } from './http/http-client.ts'
import { readRange } from './http/read-range.ts'
import { requestJson, requestVoid } from './http/request.ts'
import { type Installed, type InstallOptions, installAgent } from './install-agent.ts'
import { readEvents, summarizeEvents } from './journal/read-events.ts'
import { RemoteJournal } from './journal/remote-journal.ts'
import { tail } from './journal/tail.ts'
import { createBody } from './sandbox/create-body.ts'
import type { SandboxDescription } from './sandbox/description.ts'
import { RemoteLook } from './sandbox/remote-look.ts'
import { RemoteSandbox } from './sandbox/remote-sandbox.ts'

export interface RemoteAttachOptions extends AttachSandboxOptions {
  /** Replaces the recorded rules. */
  readonly policy?: CommandPolicyOptions
  readonly hooks?: {
    /** Commands that replace the recorded hooks; a function cannot be sent. */
    readonly beforeStop?: readonly Command[]
  }
}

interface SandboxList {
  readonly sandboxes: readonly SandboxInfo[]
  readonly default?: string
}

/** A client of a daemon and its sandboxes. */
export class VitrineClient implements SandboxClient, AsyncDisposable {
  readonly url: string
  readonly #http: HttpClient
  readonly #afterClose: (() => Promise<void>) | undefined
  readonly #observerErrors: ObserverErrors

  /** `afterClose` runs at the end of `close`. */
  constructor(http: HttpClient, afterClose?: () => Promise<void>) {
    this.url = http.url
    this.#http = http
    this.#afterClose = afterClose
    this.#observerErrors = new ObserverErrors({ onObserverError: http.onObserverError })
  }

  async create(options: CreateSandboxOptions = {}): Promise<RemoteSandbox> {
    const { signal, ...given } = options
    const json = createBody(given)
    return this.#sandbox(await requestJson(this.#http, { method: 'POST', path: ['sandboxes'], json, signal }))
  }

  /** Returns an existing sandbox. A stopped one is started as its record says, apart from what `given` replaces. */
  async attach(id: string, given: RemoteAttachOptions = {}): Promise<RemoteSandbox> {
    const { signal, ...json } = given
    const path = ['sandboxes', id, 'attach']
    return this.#sandbox(
      await requestJson(this.#http, {
        method: 'POST',
        path,
        ...(Object.keys(json).length > 0 && { json }),
        signal,
      }),
    )
  }

  async list(options: ListSandboxesOptions = {}): Promise<readonly SandboxInfo[]> {
    return (await this.#list(options)).sandboxes
  }

  /** Reads a sandbox in any state, also a destroyed one. Starts nothing; a token with read access is enough. */
  async look(id: string): Promise<RemoteLook> {
    const path = ['sandboxes', id]
    await requestJson(this.#http, { path })
    return new RemoteLook(id, this.#http.at(...path))
  }

  /** The default sandbox of the daemon. */
  async default(): Promise<RemoteSandbox> {
    const { default: id } = await this.#list({})
    if (id === undefined) throw new VitrineError('not_found', 'This daemon has no default sandbox.')
    return this.attach(id)
  }

  /** Removes a sandbox's workspace for good. Its journal stays. */
  destroy(id: string): Promise<void> {
    return requestVoid(this.#http, { method: 'DELETE', path: ['sandboxes', id] })
  }

  /** Destroys the stopped sandboxes that fit the options, and running ones if they say so. Their journals stay. */
  prune(options: PruneOptions): Promise<Pruned> {
    return requestJson(this.#http, { method: 'POST', path: ['prune'], json: options })
  }

  async listAgents(): Promise<readonly AgentInfo[]> {
    return (await requestJson<{ agents: AgentInfo[] }>(this.#http, { path: ['agents'] })).agents
  }

  getAgent(name: string): Promise<AgentInfo> {
    return requestJson(this.#http, { path: ['agents', name] })
  }

  installAgent(name: string, options: InstallOptions = {}): Promise<Installed> {
    return installAgent(this.#http, name, options, this.#observerErrors)
  }

  health(): Promise<{ readonly status: 'ok'; readonly version: string }> {
    return requestJson(this.#http, { path: ['health'] })
  }

  /** The journal of any sandbox, also of a stopped or destroyed one. */
  journal(id: string): RemoteJournal {
    return new RemoteJournal(id, this.#http.at('sandboxes', id))
  }

  /** Tails the events of the host and of all its sandboxes under one cursor, or of some `journals`. */
  events<const Pattern extends string = string>(
    options?: TailOptions<Pattern> & JournalFilter,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  events(options: TailOptions & JournalFilter = {}): AsyncIterableIterator<JournalItem> {
    return tail(this.#http, options, 'all')
  }

  /** The cursor after an item of `events` or `readEvents`, to continue there. */
  cursor(item: JournalItem): string {
    return itemCursorOfAll(item)
  }

  /** Reads a page of the events of the host and of all its sandboxes, in the order of their commits. */
  readEvents<const Pattern extends string = string>(
    options?: ReadOptions<Pattern> & JournalFilter,
  ): Promise<Page<Pattern>>
  readEvents(options: ReadOptions & JournalFilter = {}): Promise<Page> {
    return readEvents(this.#http, options, { scope: 'all' })
  }

  /** Counts the events of the host and of all its sandboxes by type and time. */
  summarizeEvents(options: SummaryOptions & JournalFilter = {}): Promise<Summary> {
    return summarizeEvents(this.#http, options, { scope: 'all' })
  }

  /** The bytes that an event refers to. */
  blob(hash: string, range: ByteRange = {}): Promise<ReadableStream<Uint8Array>> {
    return readRange(this.#http, { path: ['blobs', hash] }, range)
  }

  /** URL of the Inspector. It contains the token, so it is as secret as the token. */
  get inspectorUrl(): string {
    const { url, token } = this.#http
    return token === undefined ? `${url}/ui/` : `${url}/ui/#token=${encodeURIComponent(token)}`
  }

  /** Ends the connections of this client; sandboxes keep running. */
  async close(): Promise<void> {
    this.#http.close()
    await this.#afterClose?.()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #list({ labels, ...filter }: ListSandboxesOptions): Promise<SandboxList> {
    const query = { ...filter, ...(labels !== undefined && { labels: JSON.stringify(labels) }) }
    return requestJson(this.#http, { path: ['sandboxes'], query })
  }

  #sandbox(description: SandboxDescription): RemoteSandbox {
    return new RemoteSandbox(this.#http.newHandle().at('sandboxes', description.id), description)
  }
}
