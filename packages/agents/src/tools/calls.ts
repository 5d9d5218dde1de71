import { type JsonObject, toVitrineError, VitrineError } from '@vitrine/protocol'
import { Semaphore, settledWithin } from '@vitrine/protocol/primitives'
import type { HostTool, OfferedTool } from './host-tool.ts'
import type { ToolLimits } from './limits.ts'
import { failedResult, type ToolResult, toolResult } from './result.ts'

/** Wraps each call with valid input; it may run code before and after, or skip the call. Must settle soon after `run`. */
export type AroundCall = <T>(tool: string, input: JsonObject, run: () => Promise<T>) => Promise<T>

/** The MCP client of a call: its session and the id of its request. */
export interface ToolCaller {
  readonly client: string
  readonly id: string | number
  /** Aborted when the client has disconnected. */
  readonly disconnected: AbortSignal
}

interface RunningCall {
  readonly caller: ToolCaller
  readonly controller: AbortController
}

/** The running tool calls of one session. */
export class ToolCalls {
  readonly #session: string
  readonly #around: AroundCall
  readonly #limits: Required<ToolLimits>
  readonly #semaphore: Semaphore
  readonly #calls = new Set<RunningCall>()
  #ended: VitrineError | undefined

  constructor(session: string, around: AroundCall, limits: Required<ToolLimits>) {
    this.#session = session
    this.#around = around
    this.#limits = limits
    this.#semaphore = new Semaphore(limits.calls, limits.waiting)
  }

  /** Never rejects: the model sees an error only if it is a result. */
  async call({ tool, check }: OfferedTool, given: unknown, caller: ToolCaller): Promise<ToolResult> {
    const { resultBytes } = this.#limits
    const controller = new AbortController()
    const call = { caller, controller }
    const onDisconnect = () => controller.abort(new VitrineError('cancelled', 'The agent disconnected.'))
    if (this.#ended !== undefined) controller.abort(this.#ended)
    if (caller.disconnected.aborted) onDisconnect()
    caller.disconnected.addEventListener('abort', onDisconnect, { once: true })
    this.#calls.add(call)
    try {
      const checked = check(given)
      if (!checked.ok) return failedResult(`Invalid input of ${tool.name}: ${checked.why}.`, resultBytes)
      const { input } = checked
      const release = await this.#semaphore.acquire(controller.signal)
      if (release === undefined) return failedResult(this.#overloaded(), resultBytes)
      try {
        return await this.#around(tool.name, input, () => this.#run(tool, input, controller))
      } finally {
        release()
      }
    } catch (error) {
      const { message } = toVitrineError(error)
      return failedResult(message === '' ? `${tool.name} failed.` : message, resultBytes)
    } finally {
      this.#calls.delete(call)
      caller.disconnected.removeEventListener('abort', onDisconnect)
    }
  }

  /** Cancels a call by its request id; does nothing when clients without a session use the same id at the same time. */
  cancel(client: string, id: string | number): void {
    const matching = [...this.#calls].filter(({ caller }) => caller.client === client && caller.id === id)
    if (matching.length === 1)
      matching[0]?.controller.abort(new VitrineError('cancelled', 'The agent cancelled the call.'))
  }

  /** Cancels all running calls, and all later ones at once. */
  end(reason: VitrineError): void {
    this.#ended = reason
    for (const { controller } of this.#calls) controller.abort(reason)
  }

  #overloaded(): string {
    const { limit, waiting } = this.#semaphore
    return `Too many calls at once: ${limit} run and ${waiting} wait. Try again later.`
  }

  /** Settles with the tool or with the signal; does not wait for a tool that ignores the signal. */
  async #run(tool: HostTool, input: JsonObject, controller: AbortController): Promise<ToolResult> {
    const { callMs, resultBytes } = this.#limits
    const { signal } = controller
    signal.throwIfAborted()
    const work = (async () => tool.run(input, { session: this.#session, signal }))()
    if (await settledWithin(work, callMs, { signal, ref: true })) return toolResult(await work, resultBytes)
    const tooLong = `${tool.name} took longer than ${callMs} ms and was cancelled.`
    if (!signal.aborted) controller.abort(new VitrineError('timeout', tooLong))
    throw signal.reason
  }
}
