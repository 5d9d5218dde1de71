import { isIP } from 'node:net'
import { VitrineError } from '@vitrine/protocol'

/**
 * Which names a daemon answers to. A page that made its own name point to this machine sends that name along:
 * refusing it is what keeps it out.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>

  constructor(names: readonly string[] = []) {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  check(header: string | null | undefined): void {
    const name = hostName(header)
    if (name !== undefined && this.#allows(name)) return
    throw new VitrineError('host_refused', 'The daemon does not answer to the name in the Host header.')
  }

  #allows(name: string): boolean {
    // An address cannot be made to point elsewhere.
    return name === 'localhost' || isIP(name) !== 0 || this.#names.has(name)
  }
}

/** Without its port; IPv6 without its brackets. */
export function hostName(header: string | null | undefined): string | undefined {
  if (header === null || header === undefined) return undefined
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
  return (match?.[1] ?? match?.[2])?.toLowerCase()
}
