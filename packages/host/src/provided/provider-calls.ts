import type { Journal } from '@vitrine/journal'
import {
  type HostCallContext,
  isVitrineError,
  type ProviderCall,
  type SandboxProvider,
  toVitrineError,
  VitrineError,
  type VitrineErrorOptions,
} from '@vitrine/protocol'
import { cancelled, settledWithin } from '@vitrine/protocol/primitives'

/** Time for one call of a provider. */
const callMs = 10 * 60_000
/** Time for a call whose signal was aborted to settle. */
const graceMs = 5_000

export type ProviderMethod = 'create' | 'open' | 'pause' | 'resume' | 'destroy' | 'kill'

export interface ProviderCallOptions<Result> {
  readonly signal: AbortSignal
  readonly context?: HostCallContext | undefined
  /** Undoes a result that nobody waits for any more. */
  undo?(late: Result): Promise<void>
}

/** Calls the methods of a provider for one sandbox; each call is an operation in the host's journal. */
export class ProviderCalls {
  readonly provider: SandboxProvider
  readonly sandbox: string
  readonly #journal: Journal

  constructor(provider: SandboxProvider, sandbox: string, journal: Journal) {
    this.provider = provider
    this.sandbox = sandbox
    this.#journal = journal
  }

  /** Rejects with an error that names the provider and the method. */
  call<Result>(
    method: ProviderMethod,
    run: (call: ProviderCall) => Promise<Result>,
    { signal: caller, context = {}, undo }: ProviderCallOptions<Result>,
  ): Promise<Result> {
    const { sandbox, provider } = this
    const limit = AbortSignal.timeout(callMs)
    const signal = AbortSignal.any([caller, limit])
    return this.#journal
      .as(context)
      .operate(`provider_${method}`, { provider: provider.name, sandbox }, async () => {
        if (caller.aborted) throw cancelled(caller)
        // In a promise, so that an exception of the method is a rejection.
        const calling = new Promise<Result>((resolve) => resolve(run({ sandbox, signal })))
        calling.catch(() => undefined)
        const isDone = await settledWithin(calling, Number.POSITIVE_INFINITY, { signal, ref: true })
        if (!isDone && !(await settledWithin(calling, graceMs, { ref: true }))) {
          void calling.then((late) => undo?.(late)).catch(() => undefined)
          throw this.#abandoned(method, caller)
        }
        if (!signal.aborted)
          return calling.catch((error: unknown) => Promise.reject(this.failed(method, error)))
        const late = await calling.catch(() => undefined)
        if (late !== undefined) await undo?.(late)
        throw this.#abandoned(method, caller)
      })
  }

  /** The error for a value that the provider returned and that cannot be used. */
  unusable(method: ProviderMethod, expected: string, got: string): VitrineError {
    return this.#error('provider_failed', method, `expected ${expected}, got ${got}`)
  }

  /** The error of a method of the sandbox that the provider has opened. */
  sandboxError(method: string, error: unknown): VitrineError {
    return isVitrineError(error) ? error : this.failed(method, error)
  }

  /** The error of a method; its code is kept if it is one of Vitrine. */
  failed(method: string, error: unknown): VitrineError {
    const { code, message, details } = toVitrineError(error, 'provider_failed')
    return this.#error(code, method, message.replace(/\.$/, ''), { cause: error, details })
  }

  #abandoned(method: ProviderMethod, caller: AbortSignal): VitrineError {
    if (caller.aborted) return this.#error('cancelled', method, 'it was cancelled', { cause: caller.reason })
    return this.#error('timeout', method, `it did not end within ${callMs} ms`)
  }

  #error(
    code: VitrineError['code'],
    method: string,
    reason: string,
    { cause, details }: VitrineErrorOptions = {},
  ): VitrineError {
    const { name } = this.provider
    return new VitrineError(code, `The provider ${name} failed in \`${method}\`: ${reason}.`, {
      cause,
      details: { ...details, provider: name, method, sandbox: this.sandbox },
    })
  }
}
