import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '@vitrine/archives'
import { randomHex, VitrineError } from '@vitrine/protocol'

/** The folders of a sandbox on the host: HOME, and the state that its programs do not see. */
export interface HomeFolders {
  readonly home: string
  readonly state: string
}

/** A file that was written into HOME for an agent, or is about to be. */
export interface PlacedFile {
  /** Relative to HOME, without links. */
  readonly path: string
  /** The name in the same directory that the content is written to first. */
  readonly draft: string
  /** The name in HOME that the user's own file waits under. */
  readonly saved?: string
  /** Whether the file is in its place. */
  readonly placed: boolean
}

/** Reads which files are in HOME for an agent. It is on record before a file is written, so a dead host leaves it. */
export function readPlaced(folders: HomeFolders): readonly PlacedFile[] {
  const path = recordPath(folders)
  let cause: unknown
  try {
    const { version, files }: { version?: unknown; files?: unknown } = JSON.parse(readFileSync(path, 'utf8'))
    if (version === 1 && Array.isArray(files) && files.every(isPlacedFile)) return files
  } catch (error) {
    if (isMissing(error)) return []
    cause = error
  }
  throw new VitrineError(
    'store_corrupt',
    `${path} cannot be read: it lists the login files that were put into ${folders.home}. Remove those by hand, then this file.`,
    { cause },
  )
}

/** Replaces the record atomically. */
export function writePlaced(folders: HomeFolders, files: readonly PlacedFile[]): void {
  const path = recordPath(folders)
  if (files.length === 0) {
    rmSync(path, { force: true })
    return
  }
  mkdirSync(folders.state, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomHex(4)}`
  writeFileSync(draft, `${JSON.stringify({ version: 1, files })}\n`, { mode: 0o600, flush: true })
  renameSync(draft, path)
}

function recordPath({ state }: HomeFolders): string {
  return join(state, 'home-files.json')
}

const ownName = /^\.vitrine-[a-z]+-[0-9a-f]+$/

function isPlacedFile(value: unknown): value is PlacedFile {
  if (typeof value !== 'object' || value === null) return false
  const { path, draft, saved, placed } = value as Record<keyof PlacedFile, unknown>
  return (
    typeof path === 'string' &&
    path.split('/').every((name) => !['', '.', '..'].includes(name)) &&
    typeof draft === 'string' &&
    ownName.test(draft) &&
    (saved === undefined || (typeof saved === 'string' && ownName.test(saved))) &&
    typeof placed === 'boolean'
  )
}
