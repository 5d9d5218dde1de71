import type { Command } from '@vitrine/protocol'
import type { Records } from './records.ts'
import { recordedHook } from './restore-record.ts'

/** Stores what is registered on a running sandbox and must hold after a restart. */
export class LastingSettings {
  readonly #id: string
  readonly #records: Pick<Records, 'update'>

  constructor(id: string, records: Pick<Records, 'update'>) {
    this.#id = id
    this.#records = records
  }

  addBeforeStop(hook: (() => void | Promise<void>) | Command): void {
    this.#records.update(this.#id, (record) => ({
      ...record,
      beforeStop: [...record.beforeStop, recordedHook(hook)],
    }))
  }

  blockPersistence(): void {
    this.#records.update(this.#id, (record) =>
      record.persistenceBlocked ? record : { ...record, persistenceBlocked: true },
    )
  }

  addSkipOnPersist(path: string): void {
    this.#records.update(this.#id, (record) =>
      record.skipOnPersist.includes(path)
        ? record
        : { ...record, skipOnPersist: [...record.skipOnPersist, path] },
    )
  }
}
