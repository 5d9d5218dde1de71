import type { Journal } from '@vitrine/journal'
import { type ProcessLimits, VitrineError } from '@vitrine/protocol'
import { type EntryOptions, ProcessEntry } from './entry.ts'
import type { ProcessHost } from './process-host.ts'

/** The processes of one sandbox: all running ones, and the last ones that have ended. */
export class ProcessTable {
  readonly #entries = new Map<string, ProcessEntry>()
  readonly #limits: ProcessLimits
  #starting = 0
  #left = 0

  constructor(limits: ProcessLimits) {
    this.#limits = limits
  }

  list(): ProcessEntry[] {
    return [...this.#entries.values()]
  }

  get running(): ProcessEntry[] {
    return this.list().filter(({ over }) => !over)
  }

  get(id: string): ProcessEntry {
    const entry = this.#entries.get(id)
    if (entry === undefined)
      throw new VitrineError('not_found', `There is no process "${id}" in this sandbox, or it was forgotten.`)
    return entry
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  async start(host: ProcessHost, options: EntryOptions): Promise<ProcessEntry> {
    if (this.running.length + this.#starting >= this.#limits.processes) await this.#refuse(host.journal)
    this.#starting += 1
    const left = this.#left
    try {
      const entry = await ProcessEntry.start(host, options)
      if (left !== this.#left) entry.markEnding('cancelled')
      this.#entries.set(entry.id, entry)
      const ended = () => this.#ended(entry)
      void entry.exit.then(ended, ended)
      return entry
    } finally {
      this.#starting -= 1
    }
  }

  /** Marks all running and starting processes as cancelled, before the machine shuts down. */
  leave(): ProcessEntry[] {
    this.#left += 1
    const { running } = this
    for (const entry of running) entry.markEnding('cancelled')
    return running
  }

  remove(id: string): void {
    const entry = this.get(id)
    if (!entry.over) throw new VitrineError('process_running', `Process ${id} is still running.`)
    this.#entries.delete(id)
  }

  async #refuse(journal: Journal): Promise<never> {
    const max = this.#limits.processes
    await journal.append([{ type: 'limit.reached', data: { limit: 'processes', max } }])
    throw new VitrineError('process_limit', `This sandbox runs ${max} processes already, which is its limit.`)
  }

  #ended(entry: ProcessEntry): void {
    if (!entry.remember) this.#entries.delete(entry.id)
    const over = this.list().filter((one) => one.over)
    for (const old of over.slice(0, Math.max(0, over.length - this.#limits.remembered)))
      this.#entries.delete(old.id)
  }
}
