import type { HostCallContext, ProvidedSandbox } from '@vitrine/protocol'
import { Serial, settledWithin } from '@vitrine/protocol/primitives'
import type { SandboxEnd } from '@vitrine/sandbox'
import type { JournalMirror } from './journal-mirror.ts'
import type { ProviderCalls, ProviderMethod } from './provider-calls.ts'

/** Time for a sandbox to release its handle, and for its last events to be copied. */
const closeMs = 2_000

export interface ProvidedLifeOptions {
  readonly sandbox: ProvidedSandbox
  readonly providerId: string
  readonly calls: ProviderCalls
  readonly mirror: JournalMirror
  /** Aborted when the host closes. */
  readonly hostClosing: AbortSignal
  onEnded(end: SandboxEnd): void
}

/** The state of an opened sandbox of a provider, which all its handles share: open, then closed or destroyed. */
export class ProvidedLife {
  readonly #options: ProvidedLifeOptions
  readonly #ends = new Serial()
  readonly #afterEnd: ((end: SandboxEnd) => Promise<void>)[] = []
  #closing: Promise<void> | undefined
  #hasEnded = false
  /** Whether its machine runs, as far as calls through this host show. */
  isUp = true

  constructor(options: ProvidedLifeOptions) {
    this.#options = options
  }

  get closing(): Promise<void> | undefined {
    return this.#closing
  }

  afterEnd(step: (end: SandboxEnd) => Promise<void>): void {
    this.#afterEnd.push(step)
  }

  /** Releases the handle; the sandbox stays at its provider. */
  close(): Promise<void> {
    this.#closing ??= this.#ends.run(() => this.#end('closed'))
    return this.#closing
  }

  /** Destroys the sandbox, then has the provider remove it. If that fails, it can be repeated by the host. */
  destroy(context: HostCallContext): Promise<void> {
    return this.#ends.run(async () => {
      if (this.#hasEnded) return
      const { sandbox, calls, providerId, hostClosing } = this.#options
      // It writes the last events; the provider removes the sandbox in any case.
      await settledWithin(
        call(() => sandbox.lifecycle.destroy()),
        closeMs,
        { ref: true },
      )
      await this.#release()
      try {
        await removeProvided(calls, providerId, { signal: hostClosing, context })
      } catch (error) {
        this.#options.onEnded('closed')
        throw error
      }
      await this.#finish('destroyed')
    })
  }

  /** Calls the provider's own method, or that of the sandbox if the provider has none. */
  async change(method: ProviderMethod & ('pause' | 'resume'), context: HostCallContext): Promise<void> {
    const { sandbox, calls, providerId, hostClosing } = this.#options
    const { provider } = calls
    if (provider[method] === undefined) return sandbox.lifecycle[method]()
    await calls.call(method, (given) => provider[method]!(providerId, given), {
      signal: hostClosing,
      context,
    })
  }

  async #end(end: SandboxEnd): Promise<void> {
    if (this.#hasEnded) return
    await this.#release()
    await this.#finish(end)
  }

  async #release(): Promise<void> {
    this.#hasEnded = true
    this.isUp = false
    const { sandbox, mirror } = this.#options
    // Before, because a closed connection reads nothing; and after, for the events of the closing itself.
    await settledWithin(mirror.sync(), closeMs, { ref: true })
    await closeQuietly(sandbox)
    await mirror.close(closeMs)
  }

  async #finish(end: SandboxEnd): Promise<void> {
    this.#options.onEnded(end)
    for (const step of this.#afterEnd.splice(0)) await step(end)
  }
}

/** Has the provider remove a sandbox for good. */
export function removeProvided(
  calls: ProviderCalls,
  providerId: string,
  options: { readonly signal: AbortSignal; readonly context?: HostCallContext | undefined },
): Promise<void> {
  const { provider } = calls
  const method = provider.kill === undefined ? 'destroy' : 'kill'
  return calls.call(method, (given) => provider[method]!(providerId, given), options)
}

/** Releases a sandbox that is not used; one that hangs or throws is left. */
export async function closeQuietly(
  sandbox: Partial<Pick<ProvidedSandbox, 'close'>> | undefined,
): Promise<void> {
  await settledWithin(
    call(() => sandbox?.close?.()),
    closeMs,
    { ref: true },
  )
}

/** In a promise, so that an exception is a rejection. */
function call(run: () => unknown): Promise<unknown> {
  return new Promise((resolve) => resolve(run()))
}
