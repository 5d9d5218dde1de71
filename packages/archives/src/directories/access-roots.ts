import { chownSync, mkdirSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { type Grant, VitrineError } from '@vitrine/protocol'
import { decodePathText, encodePathText, isPathText } from '@vitrine/protocol/primitives'
import { pathOutside } from './errors.ts'
import { toBytes } from './exact-text.ts'
import { Handle } from './handle.ts'

/** An open directory below which paths may be resolved: the workspace, a grant or a mount. */
export interface AccessRoot {
  /** The path at which processes in the sandbox see the directory. */
  readonly path: string
  readonly writable: boolean
  readonly directory: Handle
  /** The directory is bind-mounted in the sandbox, so it hides whatever the disk holds at this path. */
  readonly mounted?: boolean
}

/** A directory of the host that is mounted in the workspace. */
export interface RootMount {
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

export interface AccessRootsOptions {
  readonly root: string
  readonly home: string
  readonly grants?: readonly Grant[]
  readonly mounts?: readonly RootMount[]
  readonly onDisk: HostPathOf
}

/** Maps a path as processes see it to the path on the host's disk; undefined where the host has none. */
export type HostPathOf = (path: string) => string | undefined

/** The workspace, the granted directories and the mounts. */
export class AccessRoots {
  readonly root: AccessRoot
  readonly #all: readonly AccessRoot[]
  readonly #depth: number
  readonly #mounts: ReadonlyMap<string, AccessRoot>

  private constructor(root: AccessRoot, grants: readonly AccessRoot[]) {
    this.root = root
    // Longest path first, so that the nearest root decides. The sort is stable: a grant wins over the workspace.
    this.#all = [...grants, root].toSorted((a, b) => b.path.length - a.path.length)
    this.#mounts = new Map(grants.filter(({ mounted }) => mounted).map((mount) => [mount.path, mount]))
    this.#depth = Math.max(...this.#all.map(({ path }) => path.split('/').length))
  }

  static open({ root, home, grants = [], mounts = [], onDisk }: AccessRootsOptions): AccessRoots {
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

  /** Finds the root that a path starts in, and the names below that root. A relative path starts in the workspace. */
  locate(path: string): { readonly root: AccessRoot; readonly names: string[] } {
    // Escaped bytes that together are valid UTF-8 become the characters that they encode.
    const exact = path.isWellFormed() ? path : decodePathText(encodePathText(path))
    const names = exact.split('/')
    if (names[0] !== '') return { root: this.root, names }
    let found: { readonly root: AccessRoot; readonly names: string[] } | undefined
    const above: string[] = []
    for (const [at, name] of names.entries()) {
      if (name === '..') {
        // Below a root, ".." must follow the real directories: a link may have led elsewhere than the text says.
        if (found !== undefined) break
        above.pop()
      } else if (name !== '' && name !== '.') above.push(name)
      if (above.length >= this.#depth) break
      const here = `/${above.join('/')}`
      const root = this.#all.find((one) => one.path === here)
      if (root !== undefined) found = { root, names: names.slice(at + 1) }
    }
    if (found === undefined) throw pathOutside(path)
    return found
  }

  /** Returns the nearest root that holds a path. The path must not contain links. */
  of(path: string): AccessRoot {
    const root = this.#of(path)
    if (root === undefined) throw pathOutside(path)
    return root
  }

  /** Returns the mount that hides the disk's own content at a path. */
  mountedAt(path: string): AccessRoot | undefined {
    return this.#mounts.get(path)
  }

  get hasMounts(): boolean {
    return this.#mounts.size > 0
  }

  /** Whether a read-only grant lies below a path. */
  hasReadOnlyBelow(path: string): boolean {
    return this.#all.some(
      (root) => !root.writable && root.mounted !== true && root.path.startsWith(`${path}/`),
    )
  }

  /** Lists the mounts below a path, relative to it. */
  mountsBelow(path: string): string[] {
    return [...this.#mounts.keys()].flatMap((mount) =>
      mount.startsWith(`${path}/`) ? [mount.slice(path.length + 1)] : [],
    )
  }

  /** Returns the path that callers and events see: relative to the workspace if it is inside, else absolute. */
  displayPath(path: string): string {
    const { path: root } = this.root
    if (path === root) return '.'
    return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  }

  close(): void {
    for (const { directory } of this.#all) directory.close()
  }

  #of(path: string): AccessRoot | undefined {
    return this.#all.find((root) => path === root.path || path.startsWith(`${root.path}/`))
  }
}

function openGrant(
  { path, writable = false }: Grant,
  root: string,
  home: string,
  onDisk: HostPathOf,
): AccessRoot {
  const invalid = (reason: string) =>
    new VitrineError('argument_invalid', `grants: ${JSON.stringify(path)} ${reason}`)
  const full = typeof path === 'string' ? path.replace(/^~(?=\/|$)/, home) : ''
  if (!full.startsWith('/')) throw invalid('is not an absolute path.')
  const granted = posix.normalize(full).replace(/\/+$/, '')
  if (granted === '') throw invalid('is the root of the file system, which cannot be granted.')
  const base = baseOf(granted, [root, home], onDisk)
  const disk = base && onDisk(base)
  if (!base || !disk)
    throw invalid("is not on the host's disk: grant a directory in HOME or in one of the `binds`.")
  let real: string
  try {
    real = realpathSync(disk)
  } catch {
    throw invalid('does not exist.')
  }
  if (real === '/') throw invalid("resolves to the root of the host's file system.")
  if (base === granted && [root, home].some((own) => isWithin(real, own) && !isWithin(granted, own)))
    throw invalid('resolves into the workspace or HOME: grant the resolved path instead.')
  let directory: Handle
  try {
    directory = Handle.directory(real)
  } catch {
    throw invalid('is not a directory.')
  }
  // The sandbox can change everything below `base`, so links there are not followed.
  for (const name of granted.slice(base.length).split('/').filter(Boolean)) {
    // HOME is empty in a new sandbox, so its directories are created on demand.
    const next = directory.entry(name) ?? (base === home ? makeOwnedDirectory(directory, name) : undefined)
    directory.close()
    if (next?.kind === 'directory') {
      directory = next
      continue
    }
    next?.close()
    if (next === undefined) throw invalid('does not exist.')
    throw invalid(
      next.kind === 'symlink'
        ? 'goes through a symbolic link: grant the target of the link.'
        : 'is not a directory.',
    )
  }
  return { path: granted, writable, directory }
}

function makeOwnedDirectory(parent: Handle, name: string): Handle | undefined {
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

/**
 * The longest prefix of a path that only the host can change. Without isolation, that is the whole path unless it lies
 * in one of the sandbox's own folders.
 */
function baseOf(path: string, own: readonly string[], onDisk: HostPathOf): string | undefined {
  const mine = own.filter((folder) => isWithin(path, folder)).toSorted((a, b) => b.length - a.length)[0]
  if (onDisk('/') !== undefined) return mine ?? path
  if (onDisk(path) === undefined) return undefined
  let base = path
  for (let up = posix.dirname(base); isBelow(base, up, onDisk); up = posix.dirname(base)) base = up
  return base
}

/** Whether a path is in its parent directory on the host's disk too, and not a mount on top of it. */
function isBelow(path: string, up: string, onDisk: HostPathOf): boolean {
  const folder = onDisk(up)
  return folder !== undefined && onDisk(path) === posix.join(folder, posix.basename(path))
}

/** Rejects a caller's path that no file can have. */
export function checkPath(name: string, path: unknown): asserts path is string {
  const invalid = (reason: string) => new VitrineError('argument_invalid', `${name}: ${reason}`)
  if (typeof path !== 'string' || path === '') throw invalid('expected a path.')
  if (path.includes('\0')) throw invalid('a path must not contain a NUL character.')
  if (/^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\'))
    throw invalid(`${JSON.stringify(path)} is a Windows path; use "/" as the separator.`)
  if (!isPathText(path)) throw invalid('the path contains an unpaired surrogate.')
  const bytes = Buffer.byteLength(toBytes(path))
  if (bytes > 4_095) throw new VitrineError('path_too_long', `${name}: a path of ${bytes} bytes is too long.`)
}
