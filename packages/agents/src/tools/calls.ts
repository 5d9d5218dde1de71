import { type JsonObject, toVitrineError, VitrineError } from '@vitrine/protocol'
import type { HostTool, OfferedTool } from './host-tool.ts'
import type { ToolLimits } from './limits.ts'
import { failedResult, type ToolResult, toolResult } from './result.ts'
import { Semaphore } from './semaphore.ts'

/** Wraps each call whose input is in order: before it, after it, or instead of it. It settles soon after `run` did. */
export type AroundCall = <T>(tool: string, input: JsonObject, run: () => Promise<T>) => Promise<T>

/** Who calls: the client's own session and the id that it gave the request. */
export interface Caller {
  readonly client: string
  readonly id: string | number
  /** Aborted when nobody is left to hear the answer. */
  readonly gone: AbortSignal
}

interface Call {
  readonly caller: Caller
  readonly controller: AbortController
}

/** The calls of one session that are under way. */
export class ToolCalls {
  readonly #session: string
  readonly #around: AroundCall
  readonly #limits: Required<ToolLimits>
  readonly #seats: Semaphore
  readonly #calls = new Set<Call>()
  #ended: VitrineError | undefined

  constructor(session: string, around: AroundCall, limits: Required<ToolLimits>) {
    this.#session = session
    this.#around = around
    this.#limits = limits
    this.#seats = new Semaphore(limits.calls, limits.waiting)
  }

  /** Never rejects: a model learns from an error only when it is a result. */
  async call({ tool, check }: OfferedTool, given: unknown, caller: Caller): Promise<ToolResult> {
    const { resultBytes } = this.#limits
    const controller = new AbortController()
    const call = { caller, controller }
    const leave = () => controller.abort(new VitrineError('cancelled', 'The agent went away.'))
    if (this.#ended !== undefined) controller.abort(this.#ended)
    if (caller.gone.aborted) leave()
    caller.gone.addEventListener('abort', leave, { once: true })
    this.#calls.add(call)
    try {
      const checked = check(given)
      if (!checked.ok) return failedResult(`Invalid input of ${tool.name}: ${checked.why}.`, resultBytes)
      const { input } = checked
      const stand = await this.#seats.take(controller.signal)
      try {
        return await this.#around(tool.name, input, () => this.#run(tool, input, controller))
      } finally {
        stand()
      }
    } catch (error) {
      const { message } = toVitrineError(error)
      return failedResult(message === '' ? `${tool.name} failed.` : message, resultBytes)
    } finally {
      this.#calls.delete(call)
      caller.gone.removeEventListener('abort', leave)
    }
  }

  /** Ends the one call that this can mean; two clients that count alike leave it open which one it is. */
  cancel(client: string, id: string | number): void {
    const meant = [...this.#calls].filter(({ caller }) => caller.client === client && caller.id === id)
    if (meant.length === 1)
      meant[0]?.controller.abort(new VitrineError('cancelled', 'The agent cancelled the call.'))
  }

  /** Ends all there are and all that come. */
  end(reason: VitrineError): void {
    this.#ended = reason
    for (const { controller } of this.#calls) controller.abort(reason)
  }

  /** Settles with the tool or with the signal: a tool that does not listen to it is not waited for. */
  async #run(tool: HostTool, input: JsonObject, controller: AbortController): Promise<ToolResult> {
    const { callMs, resultBytes } = this.#limits
    const { signal } = controller
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const tooLong = new VitrineError(
      'timeout',
      `${tool.name} took longer than ${callMs} ms and was cancelled.`,
    )
    const timer = setTimeout(() => controller.abort(tooLong), callMs)
    try {
      const work = (async () => tool.run(input, { session: this.#session, signal }))()
      return toolResult(await Promise.race([work, aborted]), resultBytes)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }
}
