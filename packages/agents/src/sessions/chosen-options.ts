import type { ConfigOption, JsonObject } from '@vitrine/protocol'
import type { AgentInstance } from './agent-instance.ts'
import { chosen, type KnownOption, readOptions, shownOptions, withCurrent } from './config-options.ts'
import { textIn } from './fields.ts'

/** What can be chosen in a session, and what is. */
export class ChosenOptions {
  #options: readonly KnownOption[] = []
  #shown: readonly ConfigOption[] = []

  /** As it is on record. */
  get shown(): ConfigOption[] {
    return [...this.#shown]
  }

  /** As the agent has said, on record or not. */
  get latest(): ConfigOption[] {
    return shownOptions(this.#options)
  }

  /** This is on record now. */
  show(options: readonly ConfigOption[]): void {
    this.#shown = options
  }

  /** From the answer that began the session. */
  read(answer: JsonObject): void {
    this.#options = readOptions(answer)
    this.#shown = this.latest
  }

  /** Tells the agent; throws before that when it has no such choice. */
  async choose(
    instance: AgentInstance,
    sessionId: string,
    wanted: { readonly category?: string; readonly id?: string },
    value: string | boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { via, id } = chosen(instance.agent, this.#options, wanted, value)
    const [method, params] = telling(sessionId, via, id, value)
    const told = readOptions(await instance.request(method, params, { signal }))
    this.#options = this.#with(told.length > 0 ? told : withCurrent(this.#options, id, value))
  }

  /** Chooses again what was chosen before, where the agent that came back begins otherwise. */
  async reapplyOptions(
    instance: AgentInstance,
    sessionId: string,
    before: readonly Pick<ConfigOption, 'id' | 'current'>[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const { id, current } of before) {
      const now = this.#options.find((option) => option.id === id)
      if (now === undefined || now.current === current) continue
      if (typeof current !== 'string' && typeof current !== 'boolean') continue
      await this.choose(instance, sessionId, { id }, current, signal)
    }
  }

  /** An agent that has options of two generations tells of one of them at a time. */
  #with(told: readonly KnownOption[]): KnownOption[] {
    const others = this.#options.filter(
      ({ id, via }) => via !== 'config' && !told.some((one) => one.id === id),
    )
    return [...told, ...others]
  }

  /** The agent changed something itself; whether it is about this. */
  hear(update: JsonObject): boolean {
    if (update.sessionUpdate === 'current_mode_update') {
      const mode = this.#options.find(({ category }) => category === 'mode')
      const current = textIn(update, 'currentModeId')
      if (mode === undefined || current === undefined) return false
      this.#options = withCurrent(this.#options, mode.id, current)
      return true
    }
    if (update.sessionUpdate !== 'config_option_update') return false
    const told = readOptions(update)
    if (told.length > 0) this.#options = this.#with(told)
    return told.length > 0
  }
}

function telling(
  sessionId: string,
  via: KnownOption['via'],
  configId: string,
  value: string | boolean,
): [method: string, params: JsonObject] {
  if (via === 'mode') return ['session/set_mode', { sessionId, modeId: String(value) }]
  if (via === 'model') return ['session/set_model', { sessionId, modelId: String(value) }]
  const typed = typeof value === 'boolean' ? { type: 'boolean', value } : { value }
  return ['session/set_config_option', { sessionId, configId, ...typed }]
}
