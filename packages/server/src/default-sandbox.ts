import { hash } from 'node:crypto'
import type { Host, HostCreateOptions, HostSandbox } from '@vitrine/host'

/** The sandbox that routes without an id mean: made when it is first needed, and the same after a restart. */
export class DefaultSandbox {
  readonly id: string
  readonly #host: Host
  readonly #options: HostCreateOptions
  #creating: Promise<HostSandbox> | undefined

  constructor(host: Host, options: HostCreateOptions = {}) {
    this.#host = host
    this.#options = options
    this.id = options.id ?? idOf(options.local ?? {})
  }

  async open(): Promise<HostSandbox> {
    if (this.#isKnown()) return this.#host.find(this.id)
    this.#creating ??= this.#host.create({ ...this.#options, id: this.id }).finally(() => {
      this.#creating = undefined
    })
    return this.#creating
  }

  #isKnown(): boolean {
    return this.#creating === undefined && this.#host.list().some(({ id }) => id === this.id)
  }
}

/** Another folder is another sandbox, and so is one that is isolated otherwise: it must not go on as it was. */
function idOf({ root, isolation = 'auto' }: NonNullable<HostCreateOptions['local']>): string {
  const place = root === undefined ? 'default' : `root-${hash('sha256', root).slice(0, 12)}`
  return isolation === 'auto' ? place : `${place}-${isolation}`
}
