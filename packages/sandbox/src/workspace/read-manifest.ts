import type { ManifestFile, ManifestUser, WorkspaceManifest } from '@vitrine/protocol'
import { fieldPath, manifestOptions, parseAs } from '@vitrine/protocol/options'
import { entryPath, findOverlap } from './entry-path.ts'
import { invalid, type Where } from './invalid.ts'
import { type PlannedRepository, readRepository } from './read-repository.ts'
import { type PlannedCommand, readEnvironment, readSetup } from './read-setup.ts'

/** A manifest that was checked, with nothing left open. Paths are relative; `.` is the root. */
export interface Plan {
  readonly groups: readonly string[]
  readonly users: readonly { readonly name: string; readonly groups: readonly string[] }[]
  /** Outer ones first. */
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

export type Placed<What> = What & { readonly where: Where; readonly path: string }

const top = 'workspace'

/** Reads the whole manifest before anything is done with it. Touches nothing. */
export function readManifest(given: unknown): Plan {
  const manifest = parseAs(top, manifestOptions.manifest, given) as WorkspaceManifest
  const directories = (manifest.directories ?? []).map((entry, at) => {
    const where = `${top}.directories[${at}]`
    if (typeof entry === 'string') return { where, names: entryPath(where, entry), mode: undefined }
    return { where, names: entryPath(`${where}.path`, entry.path), mode: entry.mode }
  })
  const files = placed(`${top}.files`, manifest.files, (_, entry) =>
    isContent(entry) ? { content: entry, mode: undefined } : { content: entry.content, mode: entry.mode },
  )
  const local = placed(`${top}.copy`, manifest.copy, (_, entry) => {
    const { source, ignore = [] } = typeof entry === 'string' ? { source: entry } : entry
    return { source, ignore }
  })
  const git = placed(`${top}.git`, manifest.git, readRepository)
  for (const { where, names } of [...directories, ...files])
    if (names.length === 0) throw invalid(where, 'it is the workspace itself.')
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

type Named<What> = What & { readonly where: Where; readonly names: readonly string[] }

function placed<Entry, What>(
  where: Where,
  entries: Readonly<Record<string, Entry>> = {},
  read: (where: Where, entry: Entry) => What,
): Named<What>[] {
  return Object.entries(entries).map(([path, entry]) => {
    const here = fieldPath(where, [path])
    return { ...read(here, entry), where: here, names: entryPath(here, path) }
  })
}

function withPath<What>({ names, ...entry }: Named<What>) {
  return { ...entry, path: names.join('/') || '.' }
}

function isContent(entry: string | Uint8Array | ManifestFile): entry is string | Uint8Array {
  return typeof entry === 'string' || entry instanceof Uint8Array
}

/** Every group that is named anywhere, once. */
function readAccounts({ groups = [], users: given = [] }: WorkspaceManifest): Pick<Plan, 'groups' | 'users'> {
  const users = given.map(
    (user): Required<ManifestUser> =>
      typeof user === 'string' ? { name: user, groups: [] } : { name: user.name, groups: user.groups ?? [] },
  )
  const twice = users.find(({ name }, at) => users.findIndex((user) => user.name === name) < at)
  if (twice !== undefined) throw invalid(`${top}.users`, `${JSON.stringify(twice.name)} is there twice.`)
  return { groups: [...new Set([...groups, ...users.flatMap((user) => user.groups)])], users }
}

function checkOverlap(entries: Parameters<typeof findOverlap>[0]): void {
  const found = findOverlap(entries)
  if (found === undefined) return
  const { outer, inner } = found
  const same = outer.names.length === inner.names.length
  throw invalid(inner.where, `it lies ${same ? 'at the place' : 'inside'} of ${outer.where}.`)
}
