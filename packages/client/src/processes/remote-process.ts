import type { OutputChunk, Process, ProcessExit, ProcessInfo } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import type { Query } from '../http/address.ts'
import { toBase64 } from '../http/base64.ts'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson, requestVoid } from '../http/request.ts'
import { follow } from '../streams/follow.ts'
import { type OutputEntry, outputChunk } from './output.ts'
import { exitOf } from './process-info.ts'
import { waitForExit } from './wait-for-exit.ts'

/** A handle to a process. */
export class RemoteProcess implements Process {
  readonly id: string
  readonly pid?: number
  readonly #http: HttpClient
  readonly #sandbox: HttpClient
  #exit: Promise<ProcessExit> | undefined

  /** `http` is scoped to the sandbox. */
  constructor(http: HttpClient, { id, pid }: Pick<ProcessInfo, 'id' | 'pid'>) {
    this.id = id
    if (pid !== undefined) this.pid = pid
    this.#sandbox = http
    this.#http = http.at('processes', id)
  }

  /** Polling begins with the first access. */
  get exit(): Promise<ProcessExit> {
    if (this.#exit === undefined) {
      this.#exit = waitForExit(this.#sandbox, this.id)
      this.#exit.catch(() => undefined)
    }
    return this.#exit
  }

  view({ signal, ...query }: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<OutputChunk> {
    return follow(this.#http, { path: ['view'], query, signal }, (data) => outputChunk(data as OutputEntry))
  }

  input(data: string | Uint8Array): Promise<void> {
    const json = typeof data === 'string' ? { data } : { data: toBase64(data), encoding: 'base64' }
    return this.#post('input', json)
  }

  end(): Promise<void> {
    return this.#post('input', { data: '', end: true })
  }

  async resize(cols: number, rows: number): Promise<void> {
    const json = {
      cols: requireWholeNumber('tty.cols', cols, 1),
      rows: requireWholeNumber('tty.rows', rows, 1),
    }
    await requestVoid(this.#http, { method: 'POST', path: ['terminal', 'resize'], json })
  }

  signal(name: string): Promise<void> {
    return this.#post('signal', { signal: name })
  }

  stop({ graceMs, ...rest }: { readonly graceMs?: number } = {}): Promise<ProcessExit> {
    return this.#ended('stop', withFields('stop', rest, { waitMs: graceMs }))
  }

  kill(): Promise<ProcessExit> {
    return this.#ended('kill')
  }

  #post(path: string, json: unknown): Promise<void> {
    return requestVoid(this.#http, { method: 'POST', path: [path], json })
  }

  async #ended(how: 'stop' | 'kill', query: Query = {}): Promise<ProcessExit> {
    const info = await requestJson<ProcessInfo>(this.#http, { method: 'POST', path: [how], query })
    return exitOf(info) ?? this.exit
  }
}
