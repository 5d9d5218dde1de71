import { isGap, type JournalItem, type Sandbox } from '@vitrine/protocol'

/** The processes of a run that have not exited, by its events. */
export class RunningProcesses {
  readonly #ids = new Set<string>()

  see(item: JournalItem, run: string): void {
    if (isGap(item)) return
    if (item.type === 'process.started' && item.run === run) this.#ids.add(item.data.process)
    else if (item.type === 'process.exited') this.#ids.delete(item.data.process)
  }

  /** Kills each with its descendants. */
  async kill({ processes }: Sandbox, onError: (error: unknown) => void): Promise<void> {
    await Promise.all([...this.#ids].map((id) => processes.kill(id).catch(onError)))
  }
}
