import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isVitrineError, randomHex, VitrineError } from '@vitrine/protocol'
import { parseSandboxRecord, type SandboxRecord } from '@vitrine/protocol/records'
import type { LocalOptions } from '@vitrine/sandbox'
import { orDiskFull } from './disk-full.ts'

/** A record that cannot be read. The other sandboxes are not affected. */
export interface DamagedRecord {
  /** The name of its file, which is the sandbox's id. */
  readonly id: string
  readonly changedAt: string
  readonly error: VitrineError
}

const extension = '.json'

/** The sandbox records: one JSON file each, replaced atomically, readable by the owner only. */
export class Records {
  readonly #folder: string
  readonly #records = new Map<string, SandboxRecord>()
  readonly #damaged = new Map<string, DamagedRecord>()
  /** The records by age; undefined once one has changed. */
  #sorted: readonly SandboxRecord[] | undefined

  /** `defaults` are merged into records of a version that did not store them. */
  constructor(folder: string, defaults: Omit<LocalOptions, 'data'> = {}) {
    this.#folder = folder
    orDiskFull(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }))
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(extension)) continue
      const id = name.slice(0, -extension.length)
      const path = join(folder, name)
      try {
        this.#records.set(id, readRecord(path, id, defaults))
      } catch (error) {
        this.#damaged.set(id, { id, changedAt: changeTimeOf(path), error: damagedError(id, path, error) })
      }
    }
  }

  list(): readonly SandboxRecord[] {
    this.#sorted ??= [...this.#records.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    return this.#sorted
  }

  get damaged(): readonly DamagedRecord[] {
    return [...this.#damaged.values()]
  }

  damagedOf(id: string): DamagedRecord | undefined {
    return this.#damaged.get(id)
  }

  /** Throws if the record is damaged. */
  get(id: string): SandboxRecord | undefined {
    const damaged = this.#damaged.get(id)
    if (damaged !== undefined) throw damaged.error
    return this.#records.get(id)
  }

  /** Whether there is a record, readable or not. */
  has(id: string): boolean {
    return this.#records.has(id) || this.#damaged.has(id)
  }

  put(record: SandboxRecord): void {
    const path = this.#path(record.id)
    const draft = `${path}.${randomHex(4)}`
    try {
      orDiskFull(this.#folder, () =>
        writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flush: true }),
      )
      renameSync(draft, path)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
    this.#records.set(record.id, record)
    this.#sorted = undefined
  }

  /** Changes the stored record. A sandbox whose creation failed has none any more. */
  update(id: string, change: (record: SandboxRecord) => SandboxRecord): void {
    const record = this.#records.get(id)
    if (record !== undefined) this.put(change(record))
  }

  /** Removes the record of a sandbox whose creation failed. */
  remove(id: string): void {
    rmSync(this.#path(id), { force: true })
    this.#records.delete(id)
    this.#sorted = undefined
  }

  #path(id: string): string {
    return join(this.#folder, `${id}${extension}`)
  }
}

function readRecord(path: string, id: string, defaults: Omit<LocalOptions, 'data'>): SandboxRecord {
  const record = parseSandboxRecord(JSON.parse(readFileSync(path, 'utf8')), { defaults })
  if (record.id !== id)
    throw new VitrineError('argument_invalid', `id: expected ${id}, as its file is named, got ${record.id}.`)
  return record
}

function damagedError(id: string, path: string, cause: unknown): VitrineError {
  const reason = isVitrineError(cause) || cause instanceof Error ? cause.message : String(cause)
  return new VitrineError(
    'record_damaged',
    `The record ${path} of the sandbox ${id} cannot be read: ${reason.replace(/\.$/, '')}.`,
    { cause, details: { id, path } },
  )
}

function changeTimeOf(path: string): string {
  return (statSync(path, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString()
}
