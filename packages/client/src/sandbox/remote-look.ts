import type {
  ChangedFileList,
  LookOptions,
  PortInfo,
  ProcessInfo,
  SandboxLook,
  SessionDetail,
  SessionSummary,
} from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { checkKeys } from '../http/options.ts'
import { requestJson } from '../http/request.ts'
import { RemoteJournal } from '../journal/remote-journal.ts'
import { processInfo } from '../processes/process-info.ts'

/** Reads a sandbox of a daemon without starting it. */
export class RemoteLook implements SandboxLook {
  readonly id: string
  readonly journal: RemoteJournal
  readonly #http: HttpClient

  /** `http` is scoped to the sandbox. */
  constructor(id: string, http: HttpClient) {
    this.id = id
    this.journal = new RemoteJournal(id, http)
    this.#http = http
  }

  readonly sessions = {
    list: async (options?: LookOptions): Promise<readonly SessionSummary[]> =>
      (await this.#read<{ sessions: SessionSummary[] }>(['sessions'], options)).sessions,
    get: (id: string, options?: LookOptions): Promise<SessionDetail> => this.#read(['sessions', id], options),
  }

  readonly processes = {
    list: async (options?: LookOptions): Promise<readonly ProcessInfo[]> =>
      (await this.#read<{ processes: ProcessInfo[] }>(['processes'], options)).processes.map(processInfo),
    get: async (id: string, options?: LookOptions): Promise<ProcessInfo> =>
      processInfo(await this.#read<ProcessInfo>(['processes', id], options)),
  }

  readonly files = {
    changed: (options?: LookOptions): Promise<ChangedFileList> => this.#read(['files', 'changed'], options),
  }

  readonly ports = {
    list: async (options?: LookOptions): Promise<readonly PortInfo[]> =>
      (await this.#read<{ ports: PortInfo[] }>(['ports'], options)).ports,
  }

  async #read<T>(path: readonly string[], options: LookOptions = {}): Promise<T> {
    checkKeys('look', options, { signal: true })
    return requestJson<T>(this.#http, { path, signal: options.signal })
  }
}
