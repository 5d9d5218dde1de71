import type { LogChunk, LogOptions, Process, ProcessExit, Processes, ProcessInfo } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson, requestVoid } from '../http/request.ts'
import { follow } from '../streams/follow.ts'
import { type LogEntry, logChunk } from './output.ts'
import { processInfo } from './process-info.ts'
import { RemoteProcess } from './remote-process.ts'

/** The processes of one sandbox, by id. */
export class RemoteProcesses implements Processes {
  readonly #http: HttpClient

  constructor(http: HttpClient) {
    this.#http = http
  }

  async list(): Promise<readonly ProcessInfo[]> {
    const { processes } = await requestJson<{ processes: ProcessInfo[] }>(this.#http, {
      path: ['processes'],
      query: { live: true },
    })
    return processes.map(processInfo)
  }

  async get(id: string): Promise<ProcessInfo> {
    return processInfo(
      await requestJson<ProcessInfo>(this.#http, { path: ['processes', id], query: { live: true } }),
    )
  }

  async logs(id: string, { signal, ...rest }: LogOptions = {}): Promise<readonly LogChunk[]> {
    const query = withFields('logs', rest, { follow: undefined })
    const request = { path: ['processes', id, 'logs'], query, signal }
    const { entries } = await requestJson<{ entries: LogEntry[] }>(this.#http, request)
    return entries.map(logChunk)
  }

  follow(id: string, { signal, ...rest }: LogOptions = {}): AsyncIterableIterator<LogChunk> {
    const query = withFields('follow', rest, { follow: true })
    return follow(this.#http, { path: ['processes', id, 'logs'], query, signal }, (data) =>
      logChunk(data as LogEntry),
    )
  }

  async input(id: string, data: string | Uint8Array): Promise<void> {
    await this.#process(id).input(data)
  }

  async resize(id: string, cols: number, rows: number): Promise<void> {
    await this.#process(id).resize(cols, rows)
  }

  async signal(id: string, name: string): Promise<void> {
    await this.#process(id).signal(name)
  }

  async stop(id: string, options?: { readonly graceMs?: number }): Promise<ProcessExit> {
    return this.#process(id).stop(options)
  }

  async kill(id: string): Promise<ProcessExit> {
    return this.#process(id).kill()
  }

  async attach(id: string): Promise<Process> {
    return new RemoteProcess(this.#http, await this.get(id))
  }

  remove(id: string): Promise<void> {
    return requestVoid(this.#http, { method: 'DELETE', path: ['processes', id] })
  }

  #process(id: string): RemoteProcess {
    return new RemoteProcess(this.#http, { id })
  }
}
