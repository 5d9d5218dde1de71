import { chownSync, mkdirSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { type Grant, VitrineError } from '@vitrine/protocol'
import { outside } from './errors.ts'
import { isExactText, toBytes, toExactText } from './exact-text.ts'
import { Handle } from './handle.ts'

/** A directory that paths may lead into. */
export interface AccessRoot {
  /** As processes see it. */
  readonly path: string
  readonly writable: boolean
  readonly directory: Handle
  /** Processes see it over what lies there on disk. */
  readonly mounted?: boolean
}

/** A directory of this machine that processes see in the workspace. */
export interface PlaceMount {
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

export interface PlaceOptions {
  readonly root: string
  readonly home: string
  readonly grants?: readonly Grant[]
  readonly mounts?: readonly PlaceMount[]
  readonly onDisk: OnDisk
}

/** Where something lies on this machine that processes see at a path. */
export type OnDisk = (path: string) => string | undefined

/** The workspace and what is granted beside it. */
export class AccessRoots {
  readonly root: AccessRoot
  readonly #all: readonly AccessRoot[]
  readonly #depth: number
  readonly #mounts: ReadonlyMap<string, AccessRoot>

  private constructor(root: AccessRoot, grants: readonly AccessRoot[]) {
    this.root = root
    // The longest first: the nearest one decides, and what is granted over what is there anyway.
    this.#all = [...grants, root].toSorted((a, b) => b.path.length - a.path.length)
    this.#mounts = new Map(grants.filter(({ mounted }) => mounted).map((place) => [place.path, place]))
    this.#depth = Math.max(...this.#all.map(({ path }) => path.split('/').length))
  }

  static open({ root, home, grants = [], mounts = [], onDisk }: PlaceOptions): AccessRoots {
    const opened: AccessRoot[] = []
    try {
      opened.push({ path: root, writable: true, directory: Handle.directory(root) })
      for (const { source, target: path, writable } of mounts)
        opened.push({ path, writable, directory: Handle.directory(source), mounted: true })
      for (const grant of grants) opened.push(openGrant(grant, root, home, onDisk))
      return new AccessRoots(opened[0]!, opened.slice(1))
    } catch (error) {
      for (const { directory } of opened) directory.close()
      throw error
    }
  }

  /** The place that a path begins in, and the names from there. */
  locate(path: string): { readonly place: AccessRoot; readonly names: string[] } {
    const names = toExactText(path).split('/')
    if (names[0] !== '') return { place: this.root, names }
    let found: { readonly place: AccessRoot; readonly names: string[] } | undefined
    const above: string[] = []
    for (const [at, name] of names.entries()) {
      if (name === '..') {
        // From a place on, it is where the directories lead and not where the text does.
        if (found !== undefined) break
        above.pop()
      } else if (name !== '' && name !== '.') above.push(name)
      if (above.length >= this.#depth) break
      const here = `/${above.join('/')}`
      const place = this.#all.find((one) => one.path === here)
      if (place !== undefined) found = { place, names: names.slice(at + 1) }
    }
    if (found === undefined) throw outside(path)
    return found
  }

  /** The nearest place to a path without links. */
  of(path: string): AccessRoot {
    const place = this.#of(path)
    if (place === undefined) throw outside(path)
    return place
  }

  /** What processes see at a path instead of what lies there on disk. */
  mountedAt(path: string): AccessRoot | undefined {
    return this.#mounts.get(path)
  }

  get hasMounts(): boolean {
    return this.#mounts.size > 0
  }

  /** Whether something below a path is kept from changes. */
  guarded(path: string): boolean {
    return this.#all.some(
      (place) => !place.writable && place.mounted !== true && place.path.startsWith(`${path}/`),
    )
  }

  /** Where something is mounted below a path, from there. */
  mountsBelow(path: string): string[] {
    return [...this.#mounts.keys()].flatMap((mount) =>
      mount.startsWith(`${path}/`) ? [mount.slice(path.length + 1)] : [],
    )
  }

  /** How a path is told: from the workspace's root where it is in it. */
  displayPath(path: string): string {
    const { path: root } = this.root
    if (path === root) return '.'
    return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  }

  close(): void {
    for (const { directory } of this.#all) directory.close()
  }

  #of(path: string): AccessRoot | undefined {
    return this.#all.find((place) => path === place.path || path.startsWith(`${place.path}/`))
  }
}

function openGrant(
  { path, writable = false }: Grant,
  root: string,
  home: string,
  onDisk: OnDisk,
): AccessRoot {
  const invalid = (reason: string) =>
    new VitrineError('argument_invalid', `grants: ${JSON.stringify(path)} ${reason}`)
  const full = typeof path === 'string' ? path.replace(/^~(?=\/|$)/, home) : ''
  if (!full.startsWith('/')) throw invalid('is not an absolute path.')
  const place = posix.normalize(full).replace(/\/+$/, '')
  if (place === '') throw invalid('would grant everything.')
  const base = baseOf(place, [root, home], onDisk)
  const disk = base && onDisk(base)
  if (!base || !disk)
    throw invalid('is nothing of this machine: grant a part of HOME or of what is in `binds`.')
  let real: string
  try {
    real = realpathSync(disk)
  } catch {
    throw invalid('does not exist.')
  }
  if (real === '/') throw invalid('leads to the root of this machine.')
  if (base === place && [root, home].some((own) => isWithin(real, own) && !isWithin(place, own)))
    throw invalid('leads into the workspace or HOME: grant it by its own path.')
  let directory: Handle
  try {
    directory = Handle.directory(real)
  } catch {
    throw invalid('is not a directory.')
  }
  // From here on the sandbox may have changed it: a link is not followed.
  for (const name of place.slice(base.length).split('/').filter(Boolean)) {
    // HOME is new with a sandbox.
    const next = directory.entry(name) ?? (base === home ? made(directory, name) : undefined)
    directory.close()
    if (next?.kind === 'directory') {
      directory = next
      continue
    }
    next?.close()
    if (next === undefined) throw invalid('does not exist.')
    throw invalid(
      next.kind === 'symlink' ? 'leads through a link: grant where it leads.' : 'is not a directory.',
    )
  }
  return { path: place, writable, directory }
}

function made(parent: Handle, name: string): Handle | undefined {
  mkdirSync(parent.at(name), 0o755)
  const directory = parent.entry(name)
  if (directory?.kind !== 'directory' || process.geteuid?.() !== 0) return directory
  chownSync(directory.self, parent.stats.uid, parent.stats.gid)
  directory.restat()
  return directory
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

/** The last part of a path that only the host can change; on a machine without walls, all of what is not the sandbox's. */
function baseOf(place: string, own: readonly string[], onDisk: OnDisk): string | undefined {
  const mine = own.filter((folder) => isWithin(place, folder)).toSorted((a, b) => b.length - a.length)[0]
  if (onDisk('/') !== undefined) return mine ?? place
  if (onDisk(place) === undefined) return undefined
  let base = place
  for (let up = posix.dirname(base); isBelow(base, up, onDisk); up = posix.dirname(base)) base = up
  return base
}

/** Whether it lies in the other on disk too, and is not mounted over it. */
function isBelow(path: string, up: string, onDisk: OnDisk): boolean {
  const folder = onDisk(up)
  return folder !== undefined && onDisk(path) === posix.join(folder, posix.basename(path))
}

/** A path as callers give it. */
export function checkPath(name: string, path: unknown): asserts path is string {
  const invalid = (reason: string) => new VitrineError('argument_invalid', `${name}: ${reason}`)
  if (typeof path !== 'string' || path === '') throw invalid('expected a path.')
  if (path.includes('\0')) throw invalid('a path holds no NUL character.')
  if (/^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\'))
    throw invalid(`${JSON.stringify(path)} is a path of Windows; use one with "/".`)
  if (!isExactText(path)) throw invalid('it holds half a character.')
  const bytes = Buffer.byteLength(toBytes(path))
  if (bytes > 4_095) throw new VitrineError('path_too_long', `${name}: a path of ${bytes} bytes is too long.`)
}
