import type { Journal } from '@vitrine/journal'
import { type ProcessLimits, VitrineError } from '@vitrine/protocol'
import { type EntryOptions, ProcessEntry } from './entry.ts'
import type { ProcessHost } from './process-host.ts'

/** The processes of one sandbox: all running ones, and the last ones that have ended. */
export class ProcessTable {
  readonly #entries = new Map<string, ProcessEntry>()
  readonly #limits: ProcessLimits
  readonly #starting = new Set<Promise<unknown>>()
  #cancellations = 0

  constructor(limits: ProcessLimits) {
    this.#limits = limits
  }

  list(): ProcessEntry[] {
    return [...this.#entries.values()]
  }

  get running(): ProcessEntry[] {
    return this.list().filter(({ exited }) => !exited)
  }

  get(id: string): ProcessEntry {
    const entry = this.#entries.get(id)
    if (entry === undefined)
      throw new VitrineError(
        'not_found',
        `There is no process "${id}" in this sandbox: it never existed or was removed.`,
      )
    return entry
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  async start(host: ProcessHost, options: EntryOptions): Promise<ProcessEntry> {
    if (this.running.length + this.#starting.size >= this.#limits.processes) await this.#refuse(host.journal)
    const cancellations = this.#cancellations
    const starting = ProcessEntry.start(host, options)
    this.#starting.add(starting)
    try {
      const entry = await starting
      if (cancellations !== this.#cancellations) entry.markEnding('cancelled')
      this.#entries.set(entry.id, entry)
      const ended = () => this.#ended(entry)
      void entry.exit.then(ended, ended)
      return entry
    } finally {
      this.#starting.delete(starting)
    }
  }

  /** Settles when the processes that are starting now are in the table, or have failed to start. */
  async startsSettled(): Promise<void> {
    await Promise.allSettled(this.#starting)
  }

  /** Marks all running and starting processes as cancelled, before the machine shuts down. */
  cancelAll(): ProcessEntry[] {
    this.#cancellations += 1
    const { running } = this
    for (const entry of running) entry.markEnding('cancelled')
    return running
  }

  remove(id: string): void {
    const entry = this.get(id)
    if (!entry.exited) throw new VitrineError('process_running', `Process ${id} is still running.`)
    this.#entries.delete(id)
  }

  async #refuse(journal: Journal): Promise<never> {
    const max = this.#limits.processes
    await journal.append([{ type: 'limit.reached', data: { limit: 'processes', max } }])
    throw new VitrineError('process_limit', `This sandbox runs ${max} processes, which is its limit.`)
  }

  #ended(entry: ProcessEntry): void {
    if (!entry.remember) this.#entries.delete(entry.id)
    const exited = this.list().filter((one) => one.exited)
    for (const old of exited.slice(0, Math.max(0, exited.length - this.#limits.remembered)))
      this.#entries.delete(old.id)
  }
}
