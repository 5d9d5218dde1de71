import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomHex, VitrineError } from '@vitrine/protocol'
import type { LocalOptions, WorkspaceManifest } from '@vitrine/sandbox'
import { readStoredManifest, storedManifest } from './stored-manifest.ts'

/** The stored description of a sandbox: everything needed to start it again. */
export interface SandboxRecord {
  readonly id: string
  readonly provider: 'local'
  readonly state: 'stopped' | 'destroyed'
  readonly createdAt: string
  readonly labels: Readonly<Record<string, string>>
  readonly local: LocalOptions
  /** The whole manifest until the workspace is prepared; then only the parts that every start needs. */
  readonly workspace?: WorkspaceManifest
  /** Identity of the workspace's directory: another directory at the same path is another workspace. */
  readonly directory?: { readonly path: string; readonly device: number; readonly inode: number }
}

/** The sandbox records: one JSON file each, replaced atomically, readable by the owner only. */
export class Records {
  readonly #folder: string
  readonly #records = new Map<string, SandboxRecord>()

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(folder)) {
      if (!name.endsWith('.json')) continue
      const record = readRecord(join(folder, name))
      this.#records.set(record.id, record)
    }
  }

  list(): SandboxRecord[] {
    return [...this.#records.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
  }

  get(id: string): SandboxRecord | undefined {
    return this.#records.get(id)
  }

  put(record: SandboxRecord): void {
    const path = this.#path(record.id)
    const draft = `${path}.${randomHex(4)}`
    const { workspace } = record
    const stored = { ...record, ...(workspace && { workspace: storedManifest(workspace) }) }
    writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flush: true })
    renameSync(draft, path)
    this.#records.set(record.id, record)
  }

  /** Removes the record of a sandbox whose creation failed. */
  remove(id: string): void {
    rmSync(this.#path(id), { force: true })
    this.#records.delete(id)
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`)
  }
}

function readRecord(path: string): SandboxRecord {
  try {
    const record: SandboxRecord = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof record.id === 'string' && typeof record.state === 'string') {
      const { workspace } = record
      return { ...record, ...(workspace && { workspace: readStoredManifest(workspace) }) }
    }
  } catch (error) {
    throw damaged(path, error)
  }
  throw damaged(path, undefined)
}

function damaged(path: string, cause: unknown): VitrineError {
  return new VitrineError(
    'store_corrupt',
    `The record ${path} of a sandbox cannot be read: repair the file, or move it away.`,
    { cause },
  )
}
