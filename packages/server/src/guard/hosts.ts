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

let last: { readonly header: string; readonly name: string | undefined } | undefined

/** Without its port; IPv6 without its brackets. Callers come with the same one again and again. */
export function hostName(header: string | null | undefined): string | undefined {
  if (header === null || header === undefined) return undefined
  if (last?.header !== header) last = { header, name: readName(header) }
  return last.name
}

function readName(header: string): string | undefined {
  const found = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header)
  return (found?.[1] ?? found?.[2])?.toLowerCase()
}
