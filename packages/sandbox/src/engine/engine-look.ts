import type { PortInfo, ProcessExit, ProcessInfo } from '@vitrine/protocol'
import type { EngineCore } from './core.ts'
import { listeningPorts } from './listening-ports.ts'
import type { LiveReads } from './sandbox-engine.ts'

/**
 * Reads of the live state that are no operations: they leave nothing in the journal, and work while it is paused. They are
 * masked as events are.
 */
export class EngineLook implements LiveReads {
  readonly #core: EngineCore

  constructor(core: EngineCore) {
    this.#core = core
  }

  processes(): ProcessInfo[] {
    return this.#core.table.list().map((entry) => this.#core.store.redactValue(entry.info()))
  }

  process(id: string): ProcessInfo {
    return this.#core.store.redactValue(this.#core.table.get(id).info())
  }

  exitOf(id: string): Promise<ProcessExit> {
    return this.#core.table.get(id).exit
  }

  async ports(): Promise<readonly PortInfo[]> {
    const { running } = this.#core
    return running === undefined ? [] : listeningPorts(this.#core, running)
  }
}
