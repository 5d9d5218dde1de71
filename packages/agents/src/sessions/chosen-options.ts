import type { ConfigOption, JsonObject } from '@vitrine/protocol'
import type { AgentInstance } from './agent-instance.ts'
import { findOption, type KnownOption, readOptions, shownOptions, withCurrent } from './config-options.ts'
import { textIn } from './fields.ts'

/** The options of a session and their current values. */
export class ChosenOptions {
  #options: readonly KnownOption[] = []
  #recorded: readonly ConfigOption[] = []

  /** The options as last recorded in the journal. */
  get recorded(): ConfigOption[] {
    return [...this.#recorded]
  }

  /** The options as the agent last sent them, recorded or not. */
  get latest(): ConfigOption[] {
    return shownOptions(this.#options)
  }

  /** Marks these options as recorded. */
  setRecorded(options: readonly ConfigOption[]): void {
    this.#recorded = options
  }

  /** Takes the options from the result that opened the session. */
  read(result: JsonObject): void {
    this.#options = readOptions(result)
    this.#recorded = this.latest
  }

  /** Sets an option at the agent; throws first when the option or the value does not exist. */
  async choose(
    instance: AgentInstance,
    sessionId: string,
    wanted: { readonly category?: string; readonly id?: string },
    value: string | boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { via, id } = findOption(instance.agent, this.#options, wanted, value)
    const [method, params] = requestToSet(sessionId, via, id, value)
    const sent = readOptions(await instance.request(method, params, { signal }))
    this.#options = this.#merge(sent.length > 0 ? sent : withCurrent(this.#options, id, value))
  }

  /** Sets the earlier values again where a restored agent starts with different ones. */
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

  /** Adds the known options of the older generations: an agent with both sends only one kind at a time. */
  #merge(sent: readonly KnownOption[]): KnownOption[] {
    const others = this.#options.filter(
      ({ id, via }) => via !== 'config' && !sent.some((one) => one.id === id),
    )
    return [...sent, ...others]
  }

  /** Applies an update in which the agent changed an option itself; returns whether it is one. */
  applyUpdate(update: JsonObject): boolean {
    if (update.sessionUpdate === 'current_mode_update') {
      const mode = this.#options.find(({ category }) => category === 'mode')
      const current = textIn(update, 'currentModeId')
      if (mode === undefined || current === undefined) return false
      this.#options = withCurrent(this.#options, mode.id, current)
      return true
    }
    if (update.sessionUpdate !== 'config_option_update') return false
    const sent = readOptions(update)
    if (sent.length > 0) this.#options = this.#merge(sent)
    return sent.length > 0
  }
}

function requestToSet(
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
