import type { PortAddress, PortInfo, PortPreview, Ports } from '@vitrine/protocol'
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
    return this.#located(
      await requestJson<PortAddress>(this.#http, { path: ['ports', String(requirePort(port))] }),
    )
  }

  async preview(port: number): Promise<PortPreview> {
    const path = ['ports', String(requirePort(port)), 'preview']
    const made = await requestJson<{ url: string; path: string }>(this.#http, { method: 'POST', path })
    const { href } = absolute(this.#http.url + made.path)
    return { url: href, ownOriginUrl: made.url }
  }

  async waitFor(
    port: number,
    {
      timeoutMs = defaultWaitMs,
      signal,
      ...rest
    }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<PortAddress> {
    const address = await requestJson<PortAddress>(this.#http, {
      path: ['ports', String(requirePort(port))],
      query: withFields('waitFor', rest, { wait: timeoutMs }),
      limitMs: timeoutMs + this.#http.timeoutMs,
      signal,
    })
    return this.#located(address)
  }

  /** Addresses are those of the daemon's machine. */
  #located(address: PortAddress): PortAddress {
    const { hostname } = absolute(this.#http.url)
    return isLoopback(hostname) ? address : { ...address, otherMachine: true }
  }
}

/** In a browser, the daemon's address may be relative to the page. */
function absolute(url: string): URL {
  const { location } = globalThis as { location?: { readonly href: string } }
  return new URL(url, location?.href)
}

function isLoopback(hostname: string): boolean {
  return /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(hostname)
}
