import { resolve } from 'node:path'
import { Serial } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { diskUsage } from '@vitrine/sandbox'
import { ownFolders } from './stored-sandbox.ts'

/** Measures the disk space of local sandboxes in any state, one at a time; concurrent calls for one share its measurement. */
export class DiskBytes {
  readonly #data: string
  readonly #signal: AbortSignal
  readonly #measurements = new Serial()
  readonly #running = new Map<string, Promise<number | undefined>>()

  /** The signal ends measurements in progress. */
  constructor(data: string, signal: AbortSignal) {
    this.#data = data
    this.#signal = signal
  }

  /** The space of everything that the sandbox can write to and that stays when it stops. */
  used(record: SandboxRecord): Promise<number | undefined> {
    const { root, home } = record.local
    // The recorded directory of a workspace without `root` may be that of a data directory this one was copied from.
    const given = [root && (record.directory?.path ?? root), home].filter((path) => path !== undefined)
    return this.#measure(`used ${record.id}`, record, [
      ...this.#own(record),
      ...given.map((path) => resolve(path)),
    ])
  }

  /** The space that is free after its destruction: without a workspace and a HOME that its creator chose. */
  own(record: SandboxRecord): Promise<number | undefined> {
    return this.#measure(`own ${record.id}`, record, this.#own(record))
  }

  #own(record: SandboxRecord): string[] {
    return ownFolders({ data: this.#data }, record)
  }

  /** Undefined for another provider, and where a folder cannot be read. */
  async #measure(
    key: string,
    { provider, state }: SandboxRecord,
    folders: readonly string[],
  ): Promise<number | undefined> {
    if (provider !== 'local') return undefined
    if (state === 'destroyed') return 0
    const running =
      this.#running.get(key) ??
      this.#measurements
        .run(() => diskUsage(folders, this.#signal), this.#signal)
        .finally(() => this.#running.delete(key))
    this.#running.set(key, running)
    const bytes = await running
    return bytes !== undefined && Number.isFinite(bytes) ? bytes : undefined
  }
}
