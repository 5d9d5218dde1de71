import { entryPath, findOverlap } from './entry-path.ts'
import {
  fieldsOf,
  invalid,
  kindOf,
  listOf,
  modeOf,
  recordOf,
  textOf,
  type Where,
  wholeNumber,
} from './fields.ts'
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
  readonly local: readonly Placed<{ readonly source: string; readonly ignore: readonly string[] }>[]
  readonly git: readonly Placed<PlannedRepository>[]
  readonly env: Readonly<Record<string, string>>
  readonly setup: readonly (readonly PlannedCommand[])[]
  readonly concurrency: number
}

export type Placed<What> = What & { readonly where: Where; readonly path: string }

const top = 'workspace'
const known = [
  ...['files', 'directories', 'local', 'git'],
  ...['users', 'groups', 'env', 'setup', 'concurrency'],
]
const maxConcurrency = 256

/** Reads the whole manifest before anything is done with it. Touches nothing. */
export function readManifest(manifest: unknown): Plan {
  const fields = fieldsOf(top, manifest, known)
  const directories = readDirectories(`${top}.directories`, fields.directories ?? [])
  const files = placed(`${top}.files`, fields.files, readFile)
  const local = placed(`${top}.local`, fields.local, readLocal)
  const git = placed(`${top}.git`, fields.git, readRepository)
  for (const { where, names } of [...directories, ...files])
    if (names.length === 0) throw invalid(where, 'it is the workspace itself.')
  checkOverlap([
    ...directories.map((entry) => ({ ...entry, inside: 'open' as const })),
    ...[...files, ...local, ...git].map((entry) => ({ ...entry, inside: 'closed' as const })),
  ])
  const { groups, users } = readAccounts(fields)
  return {
    groups,
    users,
    directories: directories.toSorted((a, b) => a.names.length - b.names.length).map(withPath),
    files: files.map(withPath),
    local: local.map(withPath),
    git: git.map(withPath),
    env: readEnvironment(`${top}.env`, fields.env ?? {}),
    setup: readSetup(`${top}.setup`, fields.setup ?? []),
    concurrency: wholeNumber(`${top}.concurrency`, fields.concurrency ?? 4, 1, maxConcurrency),
  }
}

type Named<What> = What & { readonly where: Where; readonly names: readonly string[] }

function placed<What>(
  where: Where,
  value: unknown,
  read: (where: Where, value: unknown) => What,
): Named<What>[] {
  return Object.entries(recordOf(where, value ?? {})).map(([path, entry]) => {
    const here = `${where}[${JSON.stringify(path.toWellFormed())}]`
    return { ...read(here, entry), where: here, names: entryPath(here, path) }
  })
}

function withPath<What>({ names, ...entry }: Named<What>) {
  return { ...entry, path: names.join('/') || '.' }
}

function readDirectories(where: Where, value: unknown): Named<{ readonly mode: number | undefined }>[] {
  return listOf(where, value).map((entry, at) => {
    const here = `${where}[${at}]`
    if (typeof entry === 'string') return { where: here, names: entryPath(here, entry), mode: undefined }
    const { path, mode } = fieldsOf(here, entry, ['path', 'mode'])
    return {
      where: here,
      names: entryPath(`${here}.path`, path),
      mode: mode === undefined ? undefined : modeOf(`${here}.mode`, mode),
    }
  })
}

function readFile(where: Where, value: unknown) {
  if (isContent(value)) return { content: value, mode: undefined }
  const { content, mode } = fieldsOf(where, value, ['content', 'mode'])
  if (!isContent(content))
    throw invalid(`${where}.content`, `expected a text or bytes, got ${kindOf(content)}.`)
  return { content, mode: mode === undefined ? undefined : modeOf(`${where}.mode`, mode) }
}

function isContent(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array
}

function readLocal(where: Where, value: unknown) {
  if (typeof value === 'string') return { source: textOf(where, value), ignore: [] }
  const { source, ignore = [] } = fieldsOf(where, value, ['source', 'ignore'])
  const patterns = listOf(`${where}.ignore`, ignore).map((item, at) => textOf(`${where}.ignore[${at}]`, item))
  return { source: textOf(`${where}.source`, source), ignore: patterns }
}

/** Every group that is named anywhere, once. */
function readAccounts(fields: Readonly<Record<string, unknown>>): Pick<Plan, 'groups' | 'users'> {
  const groups = namesOf(`${top}.groups`, fields.groups ?? [])
  const users = listOf(`${top}.users`, fields.users ?? []).map((user, at) => {
    const where = `${top}.users[${at}]`
    if (typeof user === 'string') return { name: accountName(where, user), groups: [] }
    const { name, groups: more = [] } = fieldsOf(where, user, ['name', 'groups'])
    return { name: accountName(`${where}.name`, name), groups: namesOf(`${where}.groups`, more) }
  })
  const twice = users.find(({ name }, at) => users.findIndex((user) => user.name === name) < at)
  if (twice !== undefined) throw invalid(`${top}.users`, `${JSON.stringify(twice.name)} is there twice.`)
  return { groups: [...new Set([...groups, ...users.flatMap((user) => user.groups)])], users }
}

function namesOf(where: Where, value: unknown): readonly string[] {
  return listOf(where, value).map((name, at) => accountName(`${where}[${at}]`, name))
}

/** What `useradd` takes everywhere. */
function accountName(where: Where, value: unknown): string {
  if (typeof value === 'string' && /^[a-z_][a-z0-9_-]{0,31}$/.test(value)) return value
  throw invalid(where, 'expected a name of small letters, digits, "_" and "-", 32 at most.')
}

function checkOverlap(entries: Parameters<typeof findOverlap>[0]): void {
  const found = findOverlap(entries)
  if (found === undefined) return
  const { outer, inner } = found
  const same = outer.names.length === inner.names.length
  throw invalid(inner.where, `it lies ${same ? 'at the place' : 'inside'} of ${outer.where}.`)
}
