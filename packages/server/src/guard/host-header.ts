import { isIP } from 'node:net'
import { VitrineError } from '@vitrine/protocol'

/**
 * Refuses requests whose Host header names an unknown host. This prevents DNS rebinding: a web page lets its own host
 * name resolve to this machine, so that the browser takes the daemon for the page's own server. Such a request still
 * has the page's name in its Host header.
 */
export class HostHeaderGuard {
  readonly #names: ReadonlySet<string>

  constructor(names: readonly string[] = []) {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  check(header: string | null | undefined): void {
    const name = hostName(header)
    if (name !== undefined && this.#allows(name)) return
    throw new VitrineError(
      'host_refused',
      'The Host header is missing or names a host that the daemon does not allow.',
    )
  }

  #allows(name: string): boolean {
    // DNS cannot rebind an IP address.
    return name === 'localhost' || isIP(name) !== 0 || this.#names.has(name)
  }
}

/** The host name without the port, an IPv6 address without the brackets; undefined if malformed. */
export function hostName(header: string | null | undefined): string | undefined {
  if (header === null || header === undefined) return undefined
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
  return (match?.[1] ?? match?.[2])?.toLowerCase()
}
