import { hash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { toBytes } from '@vitrine/archives'
import type { JournalEvent } from '@vitrine/protocol'
import { decodePathText } from '@vitrine/protocol/primitives'

/** The state of one path, according to events or to the disk. */
export interface Known {
  readonly kind: string
  readonly size?: number
  /** The hash of the content: on disk, or as the last event told. */
  readonly content?: string
  /** The content at the start, while no event has reported another. */
  readonly assumed?: string
}

interface FileData {
  readonly path: string
  readonly pathBase64?: string
  readonly previousPath?: string
  readonly previousPathBase64?: string
  readonly kind: string
  readonly size?: number
  readonly before?: string
  readonly beforeUnknown?: boolean
  readonly after?: string
  readonly afterOmitted?: string
}

/** A tree that is changed by events alone, and that finds fault with those that make no sense. */
export class Fold {
  readonly tree: Map<string, Known>
  readonly faults: string[] = []

  constructor(start: ReadonlyMap<string, Known>) {
    // Files that existed before have no image.
    this.tree = new Map(
      [...start].map(([path, { content, ...known }]) => [
        path,
        { ...known, ...(content !== undefined && { assumed: content }) },
      ]),
    )
  }

  add(event: JournalEvent): void {
    const data = event.data as unknown as FileData
    const path = exact(data.path, data.pathBase64)
    const fault = (why: string) => void this.faults.push(`${event.seq} ${event.type} ${path}: ${why}`)
    const { tree } = this
    const known = tree.get(path)
    const now: Known = {
      kind: data.kind,
      ...(data.size !== undefined && { size: data.size }),
      ...(data.after !== undefined && { content: data.after }),
    }
    const before = (was: Known | undefined) => {
      if (was?.kind !== 'file') return
      if (data.before !== was.content) fault(`before is ${data.before}, the last image was ${was.content}`)
      if ((data.before === undefined) !== (data.beforeUnknown === true)) fault('beforeUnknown is not said')
    }
    if (data.kind === 'file' && event.type !== 'file.deleted')
      if ((data.after === undefined) !== (data.afterOmitted !== undefined))
        fault('either an after or why there is none')
    switch (event.type) {
      case 'file.created':
        if (known !== undefined) fault('it was there already')
        if (dirname(path) !== '.' && tree.get(dirname(path))?.kind !== 'directory') fault('in no directory')
        tree.set(path, now)
        return
      case 'file.changed':
        if (known === undefined) fault('it was not there')
        else if (known.kind !== data.kind) fault(`it was a ${known.kind}`)
        before(known)
        tree.set(path, now)
        return
      case 'file.deleted':
        if (known === undefined) fault('it was not there')
        else if (known.kind !== data.kind) fault(`it was a ${known.kind}`)
        if (this.#holds(path)) fault('it still held something')
        before(known)
        tree.delete(path)
        return
      case 'file.moved': {
        const from = exact(data.previousPath ?? '', data.previousPathBase64)
        const was = tree.get(from)
        if (was === undefined) fault(`nothing was at ${from}`)
        else if (was.kind !== data.kind) fault(`it was a ${was.kind}`)
        if (this.#holds(from)) fault(`something is left below ${from}`)
        if (known !== undefined && known.kind !== data.kind) fault(`a ${known.kind} was there`)
        before(was)
        tree.delete(from)
        tree.set(path, { ...(was?.assumed !== undefined && { assumed: was.assumed }), ...now })
        return
      }
      default:
        fault('what is that?')
    }
  }

  /** Once there is no more to come. */
  end(): void {
    for (const path of this.tree.keys())
      if (dirname(path) !== '.' && this.tree.get(dirname(path))?.kind !== 'directory')
        this.faults.push(`${path}: in no directory at the end`)
  }

  #holds(path: string): boolean {
    for (const other of this.tree.keys()) if (other.startsWith(`${path}/`)) return true
    return false
  }
}

/** The exact path that an event is about. */
export function pathIn({ data }: JournalEvent): string {
  const { path, pathBase64 } = data as unknown as FileData
  return exact(path, pathBase64)
}

function exact(path: string, base64: string | undefined): string {
  return base64 === undefined ? path : decodePathText(Buffer.from(base64, 'base64'))
}

/** The current state of the disk. */
export function rescan(root: string, ignored: ReadonlySet<string> = new Set()): Map<string, Known> {
  const found = new Map<string, Known>()
  const visit = (directory: string) => {
    for (const bytes of readdirSync(toBytes(`${root}/${directory}`), 'buffer')) {
      const name = decodePathText(bytes)
      if (ignored.has(name)) continue
      const path = directory === '' ? name : `${directory}/${name}`
      const full = toBytes(`${root}/${path}`)
      const stats = lstatSync(full)
      if (stats.isDirectory()) {
        found.set(path, { kind: 'directory' })
        visit(path)
      } else if (stats.isSymbolicLink()) found.set(path, { kind: 'symlink', size: stats.size })
      else if (stats.isFile())
        found.set(path, {
          kind: 'file',
          size: stats.size,
          content: `sha256:${hash('sha256', readFileSync(full))}`,
        })
      else found.set(path, { kind: 'other', size: stats.size })
    }
  }
  visit('')
  return found
}

/** Where events and the disk do not agree. A content that no event told of is not compared. */
export function differences(told: ReadonlyMap<string, Known>, disk: ReadonlyMap<string, Known>): string[] {
  const found: string[] = []
  for (const [path, { kind, size, content }] of disk) {
    const known = told.get(path)
    if (known === undefined) found.push(`${path}: not told of`)
    else if (known.kind !== kind || known.size !== size)
      found.push(`${path}: told ${shown(known)}, is ${kind} ${size}`)
    else if ((known.content ?? known.assumed ?? content) !== content) found.push(`${path}: another content`)
  }
  for (const path of told.keys()) if (!disk.has(path)) found.push(`${path}: is not there`)
  return found
}

function shown({ kind, size }: Known): string {
  return `${kind} ${size}`
}
