import type { AgentOutput } from '@vitrine/agents'
import type { JsonObject } from '@vitrine/protocol'
import { ObserverErrors } from '@vitrine/protocol/primitives'
import {
  type InProcessClient,
  type InProcessContext,
  type InProcessOptions,
  inProcessSandboxClient,
} from './in-process.ts'

/** Executes one task; a new one is created for each. */
export interface InlineExecutor {
  /** Returns the result, or yields output while it works; then `resultArtifact` returns the result. */
  execute(task: string, signal: AbortSignal): Promise<unknown> | AsyncIterable<AgentOutput>
  resultArtifact?(): { readonly out?: unknown; readonly spent?: JsonObject }
  /**
   * Called once: after the task, however it ended, or as soon as the turn is aborted. Its error ends the turn; after a task
   * that failed or was aborted it goes to `onObserverError`.
   */
  teardown?(grace: 'brutalKill'): unknown
}

/** Creates the executor of a task. */
export type InlineExecutorFactory = (context: InProcessContext) => InlineExecutor | Promise<InlineExecutor>

/**
 * Creates sandboxes whose agent is an executor of single tasks. Its output is followed by the events `result` and `done`.
 *
 * @example
 * inlineSandboxClient(() => ({ execute: async (task) => `done: ${task}` }))
 */
export function inlineSandboxClient(
  factory: InlineExecutorFactory,
  options: Omit<InProcessOptions, 'onPrompt'> = {},
): InProcessClient {
  const errors = new ObserverErrors(options)
  return inProcessSandboxClient({
    ...options,
    async *onPrompt(prompt, context) {
      const { signal } = context
      const executor = await factory(context)
      const teardown = new Teardown(executor, (error) => errors.report('teardown', error))
      // Not after the task only: it may ignore its signal.
      const stopListening = onAbort(signal, () => teardown.afterFailure())
      try {
        signal.throwIfAborted()
        yield* outputsOf(executor, prompt, signal)
      } catch (error) {
        await teardown.afterFailure()
        throw error
      } finally {
        stopListening()
        await teardown.afterTask()
      }
    },
  })
}

async function* outputsOf(
  executor: InlineExecutor,
  prompt: string,
  signal: AbortSignal,
): AsyncGenerator<AgentOutput> {
  const running: unknown = executor.execute(prompt, signal)
  const isStream = typeof running === 'object' && running !== null && Symbol.asyncIterator in running
  // The type of an executor allows nothing else to iterate.
  if (isStream) yield* running as AsyncIterable<AgentOutput>
  const result = isStream ? undefined : await running
  const { out = result, spent } = executor.resultArtifact?.() ?? {}
  // Undefined for a function or a symbol too.
  const finalText = typeof out === 'string' ? out : (JSON.stringify(out) ?? '')
  if (finalText !== '') yield finalText
  if (spent !== undefined) yield { type: 'llm_call', data: spent }
  yield { type: 'result', data: { finalText, ...(spent !== undefined && { tokenUsage: spent }) } }
  yield { type: 'done', data: {} }
}

/** Calls `teardown` of an executor once. */
class Teardown {
  readonly #executor: InlineExecutor
  readonly #report: (error: unknown) => void
  #done: Promise<unknown> | undefined

  constructor(executor: InlineExecutor, report: (error: unknown) => void) {
    this.#executor = executor
    this.#report = report
  }

  /** The task has an error of its own, so an error of the teardown is only reported. */
  async afterFailure(): Promise<void> {
    this.#done ??= this.#call().catch(this.#report)
    await this.#done
  }

  async afterTask(): Promise<void> {
    this.#done ??= this.#call()
    await this.#done
  }

  async #call(): Promise<unknown> {
    return this.#executor.teardown?.('brutalKill')
  }
}

/** Calls a listener when the signal is aborted, or at once if it is. Returns the function that removes the listener. */
function onAbort(signal: AbortSignal, listener: () => unknown): () => void {
  const listen = () => void listener()
  if (signal.aborted) listen()
  else signal.addEventListener('abort', listen, { once: true })
  return () => signal.removeEventListener('abort', listen)
}
