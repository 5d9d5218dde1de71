import { lstatSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { outside } from './errors.ts'
import { isExactText } from './exact-text.ts'
import { Handle } from './handle.ts'

/** More than the workspace that files may be read from, or written to. */
export interface Grant {
  /** As processes see it; `~` is HOME. */
  readonly path: string
  readonly writable?: boolean
}

/** A directory that paths may lead into. */
export interface Place {
  /** As processes see it. */
  readonly path: string
  readonly writable: boolean
  readonly directory: Handle
}

/** Where something lies on this machine that processes see at a path. */
export type OnDisk = (path: string) => string | undefined

/** The workspace and what is granted beside it. */
export class Places {
  readonly root: Place
  readonly #all: readonly Place[]

  private constructor(root: Place, grants: readonly Place[]) {
    this.root = root
    // The longest first: the nearest one decides.
    this.#all = [root, ...grants].toSorted((a, b) => b.path.length - a.path.length)
  }

  static open(root: string, home: string, grants: readonly Grant[], onDisk: OnDisk): Places {
    const opened: Place[] = []
    try {
      opened.push({ path: root, writable: true, directory: Handle.directory(root) })
      for (const grant of grants) opened.push(openGrant(grant, home, onDisk))
      return new Places(opened[0]!, opened.slice(1))
    } catch (error) {
      for (const { directory } of opened) directory.close()
      throw error
    }
  }

  /** The place that a path begins in, and the names from there. */
  locate(path: string): { readonly place: Place; readonly names: string[] } {
    const absolute = path.startsWith('/')
    const place = absolute ? this.#of(posix.normalize(path)) : this.root
    if (place === undefined) throw outside(path)
    const below = absolute ? posix.normalize(path).slice(place.path.length) : path
    return { place, names: below.split('/') }
  }

  /** The nearest place to a path without links. */
  of(path: string): Place {
    const place = this.#of(path)
    if (place === undefined) throw outside(path)
    return place
  }

  /** Whether something below a path is kept from changes. */
  guarded(path: string): boolean {
    return this.#all.some((place) => !place.writable && place.path.startsWith(`${path}/`))
  }

  /** How a path is told: from the workspace's root where it is in it. */
  told(path: string): string {
    const { path: root } = this.root
    if (path === root) return '.'
    return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  }

  close(): void {
    for (const { directory } of this.#all) directory.close()
  }

  #of(path: string): Place | undefined {
    return this.#all.find((place) => path === place.path || path.startsWith(`${place.path}/`))
  }
}

function openGrant({ path, writable = false }: Grant, home: string, onDisk: OnDisk): Place {
  const invalid = (reason: string) =>
    new VitrineError('argument_invalid', `grants: ${JSON.stringify(path)} ${reason}`)
  const full = typeof path === 'string' ? path.replace(/^~(?=\/|$)/, home) : ''
  if (!full.startsWith('/')) throw invalid('is not an absolute path.')
  const place = posix.normalize(full).replace(/\/+$/, '')
  if (place === '') throw invalid('would grant everything.')
  const disk = onDisk(place)
  if (disk === undefined)
    throw invalid('is nothing of this machine: grant a part of HOME or of what is in `binds`.')
  let real: string
  try {
    real = realpathSync(disk)
    if (!lstatSync(real).isDirectory()) throw invalid('is not a directory.')
  } catch (error) {
    if (error instanceof VitrineError) throw error
    throw invalid('does not exist.')
  }
  if (real === '/') throw invalid('leads to the root of this machine.')
  return { path: place, writable, directory: Handle.directory(real) }
}

/** A path as callers give it. */
export function checkPath(name: string, path: unknown): asserts path is string {
  const invalid = (reason: string) => new VitrineError('argument_invalid', `${name}: ${reason}`)
  if (typeof path !== 'string' || path === '') throw invalid('expected a path.')
  if (path.includes('\0')) throw invalid('a path holds no NUL character.')
  if (/^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\'))
    throw invalid(`${JSON.stringify(path)} is a path of Windows; use one with "/".`)
  if (!isExactText(path)) throw invalid('it holds half a character.')
  if (Buffer.byteLength(path) > 4_095)
    throw new VitrineError(
      'path_too_long',
      `${name}: a path of ${Buffer.byteLength(path)} bytes is too long.`,
    )
}
