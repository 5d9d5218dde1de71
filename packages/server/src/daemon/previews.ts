import { randomBytes } from 'node:crypto'
import { VitrineError } from '@vitrine/protocol'
import { hostName } from '../guard/host-header.ts'

/** A preview of one port of one sandbox. */
export interface Preview {
  readonly token: string
  readonly sandbox: string
  readonly port: number
}

const maxPreviews = 1_000

/** Preview tokens: a token gives access to its port, for as long as the daemon runs. */
export class Previews {
  readonly #byToken = new Map<string, Preview>()
  readonly #exists: (sandbox: string) => boolean

  constructor(exists: (sandbox: string) => boolean) {
    this.#exists = exists
  }

  /** Creates a preview, or returns the existing one of the port. */
  open(sandbox: string, port: number): Preview {
    for (const preview of this.#byToken.values())
      if (preview.sandbox === sandbox && preview.port === port) return preview
    if (this.#byToken.size >= maxPreviews) this.#removeStale()
    if (this.#byToken.size >= maxPreviews)
      throw new VitrineError(
        'too_many_connections',
        `There are ${maxPreviews} previews already, which is the limit.`,
      )
    // Hex, because the token is a label of a host name: letters and digits only, case-insensitive.
    const preview = { token: randomBytes(20).toString('hex'), sandbox, port }
    this.#byToken.set(preview.token, preview)
    return preview
  }

  #removeStale(): void {
    for (const { token, sandbox } of this.#byToken.values())
      if (!this.#exists(sandbox)) this.#byToken.delete(token)
  }

  /** The preview that a request is for: by its own host name, or by its path. */
  find(host: string | null | undefined, path: string): PreviewTarget | undefined {
    if (this.#byToken.size === 0) return undefined
    const [label = '', ...rest] = hostName(host)?.split('.') ?? []
    if (rest.length === 1 && rest[0] === 'localhost') return this.#target(label, path, 'host')
    const [, token, inner] = /^\/preview\/([0-9a-f]{40})(\/.*)?$/.exec(path) ?? []
    return token === undefined ? undefined : this.#target(token, inner ?? '/', 'path')
  }

  #target(token: string, path: string, by: PreviewTarget['by']): PreviewTarget | undefined {
    const preview = this.#byToken.get(token)
    return preview && { preview, path, by }
  }
}

export interface PreviewTarget {
  readonly preview: Preview
  /** The path to request from the port. */
  readonly path: string
  /** With its own host name a preview has its own origin; below a path it gets a sandboxed, opaque one. */
  readonly by: 'host' | 'path'
}
