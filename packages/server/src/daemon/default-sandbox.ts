import type { Host, HostCreateOptions, HostSandbox } from '@vitrine/host'
import { newId } from '@vitrine/protocol'

const label = 'vitrine.default'

/**
 * The sandbox that routes without an id mean: made when it is first needed, and the same after a restart. It is known
 * by a label; another folder or another isolation is another sandbox, with an id of its own.
 */
export class DefaultSandbox {
  readonly #host: Host
  readonly #options: HostCreateOptions
  readonly #key: string
  #nextId: string | undefined
  #creating: Promise<HostSandbox> | undefined

  constructor(host: Host, options: HostCreateOptions = {}) {
    this.#host = host
    this.#options = options
    this.#key = keyOf(options.local ?? {})
  }

  get id(): string {
    const known = this.#options.id ?? this.#findId()
    if (known !== undefined) return known
    this.#nextId ??= newId('sandbox')
    return this.#nextId
  }

  open(): Promise<HostSandbox> {
    if (this.#creating === undefined && this.#exists()) return this.#host.find(this.id)
    this.#creating ??= this.#create().finally(() => {
      this.#creating = undefined
    })
    return this.#creating
  }

  async #create(): Promise<HostSandbox> {
    const { id } = this
    const labels = { ...this.#options.labels, [label]: this.#key }
    const sandbox = await this.#host.create({ ...this.#options, id, labels })
    // For the one after it, should it be destroyed.
    this.#nextId = undefined
    return sandbox
  }

  /** One that was given an id is that one, also when it is gone. */
  #exists(): boolean {
    const { id: given } = this.#options
    return given === undefined
      ? this.#findId() !== undefined
      : this.#host.list().some(({ id }) => id === given)
  }

  #findId(): string | undefined {
    return this.#host.list().find(({ labels, state }) => labels[label] === this.#key && state !== 'destroyed')
      ?.id
  }
}

/** Another folder is another sandbox, and so is one that is isolated otherwise: it must not go on as it was. */
function keyOf({ root = '', isolation = 'auto' }: NonNullable<HostCreateOptions['local']>): string {
  return `${isolation} ${root}`
}
