import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type VitrineClient } from '@vitrine/client'
import { type Host, type OpenHostOptions, openHost } from '@vitrine/host'
import type { StoreDriver } from '@vitrine/journal'
import { createServer, type Listening, listen } from '@vitrine/server'
import { checkedFetch } from '../../packages/server/test/contract/checked-fetch.ts'

const token = 'full-9d2f61c84b7ea035'
const readToken = 'read-3e80b5a1f64c92d7'

interface DaemonOptions {
  readonly store?: StoreDriver
  readonly agents?: OpenHostOptions['agents']
  readonly maxConnections?: number
  readonly providers?: OpenHostOptions['providers']
}

/** A daemon in this process on its own port, with a client that checks every response against the HTTP contract. */
export class InProcessDaemon {
  readonly token = token
  readonly readToken = readToken
  readonly client: VitrineClient
  readonly #data: string
  readonly #options: DaemonOptions
  #host: Host
  #listening: Listening

  private constructor(data: string, options: DaemonOptions, host: Host, listening: Listening) {
    this.#data = data
    this.#options = options
    this.#host = host
    this.#listening = listening
    this.client = connect({ url: listening.url, token, fetch: checkedFetch })
  }

  /** `journals` are the ids of journals that are readable while they are still empty. */
  static async open(
    options: DaemonOptions & { journals?: readonly string[] } = {},
  ): Promise<InProcessDaemon> {
    // Not below /tmp: a sandbox has a /tmp of its own.
    const data = await mkdtemp(join('/var/tmp', 'vitrine-daemon-'))
    chmodSync(data, 0o711)
    for (const id of options.journals ?? []) writeRecord(data, id)
    const host = await open(data, options)
    return new InProcessDaemon(data, options, host, await serve(host, 0, options))
  }

  get url(): string {
    return this.#listening.url
  }

  /** Another client, optionally through another URL. */
  connect(url = this.url): VitrineClient {
    return connect({ url, token })
  }

  get host(): Host {
    return this.#host
  }

  /** Restarts the daemon with the same data on the same port. */
  async restart(): Promise<void> {
    const { port } = this.#listening
    await this.#listening.close()
    await this.#host.close()
    this.#host = await open(this.#data, this.#options)
    this.#listening = await serve(this.#host, port, this.#options)
  }

  async close(): Promise<void> {
    await this.client.close()
    await this.#listening.close()
    await this.#host.close()
    await rm(this.#data, { recursive: true, force: true })
  }
}

function open(data: string, { store, agents, providers }: DaemonOptions): Promise<Host> {
  const given = { ...(store && { store }), ...(agents && { agents }), ...(providers && { providers }) }
  return openHost({ data, install: 'never', ...given })
}

function serve(host: Host, port: number, { maxConnections }: DaemonOptions): Promise<Listening> {
  const server = createServer({
    host,
    tokens: [
      { name: 'daemon', token, access: 'full' },
      { name: 'viewer', token: readToken, access: 'read' },
    ],
  })
  // Client and daemon share one event loop: a test that blocks it must not count as a slow client.
  return listen(server, { port, headersMs: 60_000, ...(maxConnections && { maxConnections }) })
}

/** Writes the record of a destroyed sandbox, whose journal stays readable. */
function writeRecord(data: string, id: string): void {
  mkdirSync(join(data, 'records'), { recursive: true })
  const record = {
    id,
    provider: 'local',
    state: 'destroyed',
    createdAt: new Date().toISOString(),
    labels: {},
    local: {},
  }
  writeFileSync(join(data, 'records', `${id}.json`), JSON.stringify(record))
}
