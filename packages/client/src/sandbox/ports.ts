import type { PortAddress, PortInfo, Ports } from '@vitrine/protocol'
import { requirePort } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson } from '../http/request.ts'

const defaultWaitMs = 30_000

/** The listening ports of one sandbox. */
export class RemotePorts implements Ports {
  readonly #http: HttpClient

  constructor(http: HttpClient) {
    this.#http = http
  }

  async list(): Promise<readonly PortInfo[]> {
    return (await requestJson<{ ports: PortInfo[] }>(this.#http, { path: ['ports'], query: { live: true } }))
      .ports
  }

  async resolve(port: number): Promise<PortAddress> {
    return requestJson(this.#http, { path: ['ports', String(requirePort(port))] })
  }

  async waitFor(
    port: number,
    {
      timeoutMs = defaultWaitMs,
      signal,
      ...rest
    }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<PortAddress> {
    return requestJson(this.#http, {
      path: ['ports', String(requirePort(port))],
      query: withFields('waitFor', rest, { wait: timeoutMs }),
      limitMs: timeoutMs + this.#http.timeoutMs,
      signal,
    })
  }
}
