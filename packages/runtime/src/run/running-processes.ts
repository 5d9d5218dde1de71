import { isGap, type JournalItem, readPages, type Sandbox } from '@vitrine/protocol'

/** The processes of a run that have not exited, by its events. */
export class RunningProcesses {
  readonly #ids = new Set<string>()

  see(item: JournalItem, runs: ReadonlySet<string>): void {
    if (isGap(item)) return
    if (item.type === 'process.started' && item.run !== undefined && runs.has(item.run))
      this.#ids.add(item.data.process)
    else if (item.type === 'process.exited') this.#ids.delete(item.data.process)
  }

  /** Kills each with its descendants, also those that were started after the cursor, outside of a turn. */
  async kill(
    { journal, processes }: Sandbox,
    { runs, after }: { readonly runs: ReadonlySet<string>; readonly after: string | undefined },
    onError: (error: unknown) => void,
  ): Promise<void> {
    const since = after === undefined ? {} : { after }
    const types = ['process.started', 'process.exited'] as const
    for await (const { events } of readPages(journal, { ...since, types }))
      for (const item of events) this.see(item, runs)
    await Promise.all([...this.#ids].map((id) => processes.kill(id).catch(onError)))
  }
}
