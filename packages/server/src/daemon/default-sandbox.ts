import type { Host, HostCreateOptions, HostSandbox } from '@vitrine/host'
import { type HostCallContext, newId, type SandboxInfo } from '@vitrine/protocol'

const label = 'vitrine.default'

/**
 * The sandbox of routes without a sandbox id. It is created on first use and found again by its label after a restart;
 * another folder or another isolation is another sandbox with another id.
 */
export class DefaultSandbox {
  readonly #host: Host
  readonly #options: HostCreateOptions
  readonly #key: string
  #nextId: string | undefined
  /** The id that the last search for the label found. */
  #foundId: string | undefined
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

  /** The context of the call is recorded with a start. */
  open(context?: HostCallContext): Promise<HostSandbox> {
    if (this.#creating === undefined && this.#exists()) return this.#host.find(this.id, context)
    this.#creating ??= this.#create(context).finally(() => {
      this.#creating = undefined
    })
    return this.#creating
  }

  async #create(context: HostCallContext | undefined): Promise<HostSandbox> {
    const { id } = this
    const labels = { [label]: this.#key }
    const sandbox = await this.#host.create({ ...this.#options, id }, context, labels)
    // A default sandbox that is created after this one was destroyed gets a new id.
    this.#nextId = undefined
    return sandbox
  }

  /** A configured id names that sandbox also when it was destroyed. */
  #exists(): boolean {
    const { id: given } = this.#options
    return given === undefined ? this.#findId() !== undefined : this.#host.info(given) !== undefined
  }

  #findId(): string | undefined {
    const isDefault = ({ labels, state }: SandboxInfo) => labels[label] === this.#key && state !== 'destroyed'
    const known = this.#foundId === undefined ? undefined : this.#host.info(this.#foundId)
    // Every request without a sandbox id asks for this one, and a host may have thousands.
    if (known === undefined || !isDefault(known)) this.#foundId = this.#host.infos().find(isDefault)?.id
    return this.#foundId
  }
}

/** The label's value: a sandbox with another folder or another isolation must not be reused. */
function keyOf({ root = '', isolation = 'auto' }: NonNullable<HostCreateOptions['local']>): string {
  return `${isolation} ${root}`
}
