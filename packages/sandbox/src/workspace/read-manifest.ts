import type { ManifestFile, ManifestUser, WorkspaceManifest } from '@vitrine/protocol'
import { fieldPath, manifestOptions, parseAs } from '@vitrine/protocol/options'
import { entryPath, findOverlap } from './entry-path.ts'
import { type FieldPath, invalid } from './invalid.ts'
import { type PlannedRepository, readRepository } from './read-repository.ts'
import { type PlannedCommand, readEnvironment, readSetup } from './read-setup.ts'

/** A validated manifest with all defaults filled in. Paths are relative; `.` is the root. */
export interface WorkspacePlan {
  readonly groups: readonly string[]
  readonly users: readonly { readonly name: string; readonly groups: readonly string[] }[]
  /** Outer directories first. */
  readonly directories: readonly Placed<{ readonly mode: number | undefined }>[]
  readonly files: readonly Placed<{
    readonly content: string | Uint8Array
    readonly mode: number | undefined
  }>[]
  readonly copy: readonly Placed<{ readonly source: string; readonly ignore: readonly string[] }>[]
  readonly git: readonly Placed<PlannedRepository>[]
  readonly env: Readonly<Record<string, string>>
  readonly setup: readonly (readonly PlannedCommand[])[]
  readonly concurrency: number
}

export type Placed<What> = What & { readonly field: FieldPath; readonly path: string }

const top = 'workspace'

/** Validates the whole manifest. It does not access the file system. */
export function readManifest(given: unknown): WorkspacePlan {
  const manifest = parseAs(top, manifestOptions.manifest, given) as WorkspaceManifest
  const directories = (manifest.directories ?? []).map((entry, at) => {
    const field = `${top}.directories[${at}]`
    if (typeof entry === 'string') return { field, names: entryPath(field, entry), mode: undefined }
    return { field, names: entryPath(`${field}.path`, entry.path), mode: entry.mode }
  })
  const files = readEntries(`${top}.files`, manifest.files, (_, entry) =>
    isContent(entry) ? { content: entry, mode: undefined } : { content: entry.content, mode: entry.mode },
  )
  const local = readEntries(`${top}.copy`, manifest.copy, (_, entry) => {
    const { source, ignore = [] } = typeof entry === 'string' ? { source: entry } : entry
    return { source, ignore }
  })
  const git = readEntries(`${top}.git`, manifest.git, readRepository)
  for (const { field, names } of [...directories, ...files])
    if (names.length === 0) throw invalid(field, 'the path is the workspace itself.')
  checkOverlap([
    ...directories.map((entry) => ({ ...entry, inside: 'open' as const })),
    ...[...files, ...local, ...git].map((entry) => ({ ...entry, inside: 'closed' as const })),
  ])
  return {
    ...readAccounts(manifest),
    directories: directories.toSorted((a, b) => a.names.length - b.names.length).map(withPath),
    files: files.map(withPath),
    copy: local.map(withPath),
    git: git.map(withPath),
    env: readEnvironment(`${top}.env`, manifest.env ?? {}),
    setup: readSetup(`${top}.setup`, manifest.setup ?? []),
    concurrency: manifest.concurrency ?? 4,
  }
}

type Named<What> = What & { readonly field: FieldPath; readonly names: readonly string[] }

function readEntries<Entry, What>(
  field: FieldPath,
  entries: Readonly<Record<string, Entry>> = {},
  read: (field: FieldPath, entry: Entry) => What,
): Named<What>[] {
  return Object.entries(entries).map(([path, entry]) => {
    const entryField = fieldPath(field, [path])
    return { ...read(entryField, entry), field: entryField, names: entryPath(entryField, path) }
  })
}

function withPath<What>({ names, ...entry }: Named<What>) {
  return { ...entry, path: names.join('/') || '.' }
}

function isContent(entry: string | Uint8Array | ManifestFile): entry is string | Uint8Array {
  return typeof entry === 'string' || entry instanceof Uint8Array
}

/** Collects the users and every group that is named anywhere, without duplicates. */
function readAccounts({
  groups = [],
  users: given = [],
}: WorkspaceManifest): Pick<WorkspacePlan, 'groups' | 'users'> {
  const users = given.map(
    (user): Required<ManifestUser> =>
      typeof user === 'string' ? { name: user, groups: [] } : { name: user.name, groups: user.groups ?? [] },
  )
  const duplicate = users.find(({ name }, at) => users.findIndex((user) => user.name === name) < at)
  if (duplicate !== undefined)
    throw invalid(`${top}.users`, `${JSON.stringify(duplicate.name)} is listed twice.`)
  return { groups: [...new Set([...groups, ...users.flatMap((user) => user.groups)])], users }
}

function checkOverlap(entries: Parameters<typeof findOverlap>[0]): void {
  const found = findOverlap(entries)
  if (found === undefined) return
  const { outer, inner } = found
  const same = outer.names.length === inner.names.length
  throw invalid(inner.field, `it is ${same ? 'at the same path as' : 'inside'} ${outer.field}.`)
}
