import type { Journal } from '@vitrine/journal'
import {
  type ConfigOption,
  type HostCallContext,
  type OpenSessionOptions,
  toVitrineError,
} from '@vitrine/protocol'
import type { AgentInstance } from './agent-instance.ts'
import { attributionOf } from './attribution.ts'
import { ChosenOptions } from './chosen-options.ts'
import { sessionUpdated } from './interpret-message.ts'

/** The parts of a session that setting its options uses. */
interface SessionOfOptions {
  readonly id: string
  readonly journal: Journal
  readonly agentSession: string
  readonly instance: AgentInstance | undefined
  readonly closeSignal: AbortSignal
  assertOpen(): void
  ensureAgent(): Promise<AgentInstance>
}

/** Sets the options of a session at its agent, and records them. */
export class SessionOptions {
  readonly chosen = new ChosenOptions()
  readonly #session: SessionOfOptions

  constructor(session: SessionOfOptions) {
    this.#session = session
  }

  /** The context of a call is recorded with the change. */
  async choose(
    wanted: { category?: string; id?: string },
    value: string | boolean,
    { signal: openSignal, context = {} }: { signal?: AbortSignal; context?: HostCallContext },
  ): Promise<void> {
    this.#session.assertOpen()
    const instance = await this.#session.ensureAgent()
    const { id, journal, agentSession, closeSignal } = this.#session
    const signal = AbortSignal.any([closeSignal, ...(openSignal ? [openSignal] : [])])
    await this.chosen.choose(instance, agentSession, wanted, value, signal)
    const { latest } = this.chosen
    await journal.append([{ ...sessionUpdated(id, { options: latest }), ...attributionOf(context) }])
    this.chosen.setRecorded(latest)
  }

  /** Sets the model, thought level and mode that the session was opened with. */
  async applyInitial(
    { model, thoughtLevel, mode }: Pick<OpenSessionOptions, 'model' | 'thoughtLevel' | 'mode'>,
    signal: AbortSignal,
  ): Promise<void> {
    if (model !== undefined) await this.choose({ category: 'model' }, model, { signal })
    if (thoughtLevel !== undefined) await this.choose({ category: 'thought_level' }, thoughtLevel, { signal })
    if (mode !== undefined) await this.choose({ category: 'mode' }, mode, { signal })
  }

  /** Sets earlier values again at a restored agent; a failure is only logged. */
  async reapply(before: readonly Pick<ConfigOption, 'id' | 'current'>[], signal: AbortSignal): Promise<void> {
    const { instance, agentSession, journal } = this.#session
    if (instance === undefined) return
    try {
      await this.chosen.reapplyOptions(instance, agentSession, before, signal)
    } catch (error) {
      if (signal.aborted) throw error
      const message = `Some options could not be set again: ${toVitrineError(error).message}`
      await journal.append([{ type: 'log.message', data: { level: 'warn', message } }])
    }
    this.chosen.setRecorded(this.chosen.latest)
  }
}
