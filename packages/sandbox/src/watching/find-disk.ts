import { randomHex, VitrineError } from '@vitrine/protocol'
import type { Disk, OpenDirectory } from './disk.ts'
import { type FindCommand, gnuFind, plainFind } from './find-command.ts'
import { type FindRecord, FindRecords } from './find-records.ts'
import type { Node } from './node.ts'

/** What of all that has changed between two looks is read, at most. */
const readBytes = 64 * 1024 * 1024
/** What disappears while it is listed fails some of them. */
const attempts = 3
const ways = [gnuFind, plainFind]

export interface FindDiskOptions {
  /** Runs a command in the workspace. */
  run(argv: readonly string[]): FindRun
  /** The content of a file that is not larger. */
  read(path: string, maxBytes: number): Promise<Uint8Array | undefined>
  /** Names that are not looked into. */
  readonly prune: readonly string[]
  /** Of one file that is read; the same as the tree's. */
  readonly imageBytes: number
}

export interface FindRun {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly exit: Promise<{ readonly exitCode: number | null }>
}

/** A workspace where all that can be done is to run commands: as it was when `refresh` came back. */
export class FindDisk implements Disk {
  readonly #options: FindDiskOptions
  #top: ReadonlyMap<string, FindRecord> | undefined
  #contents = new Map<string, Uint8Array>()
  #way: (typeof ways)[number] | undefined

  constructor(options: FindDiskOptions) {
    this.#options = options
  }

  /** Takes in how everything is now. When that fails, everything stays as it was. */
  async refresh(): Promise<void> {
    const top = await this.#list()
    const contents = this.#top === undefined ? new Map() : await this.#readChanged(this.#top, top)
    this.#top = top
    this.#contents = contents
  }

  open(node: Node): OpenDirectory | undefined {
    if (this.#top === undefined) throw new Error('It was not looked at yet.')
    const names = node.parent === undefined ? [] : node.path.split('/')
    let children: ReadonlyMap<string, FindRecord> | undefined = this.#top
    let found: FindRecord | undefined
    for (const name of names) {
      found = children?.get(name)
      if (found === undefined) return undefined
      children = found.children
    }
    if (found !== undefined && (found.seen.kind !== 'directory' || found.seen.ino !== node.seen.ino))
      return undefined
    return new FoundDirectory(node.path, children, this.#contents)
  }

  async #list(): Promise<ReadonlyMap<string, FindRecord>> {
    const names = this.#options.prune.filter((pattern) => !pattern.includes('/'))
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      // Once one has worked it stays: they do not tell times alike.
      for (const way of this.#way === undefined ? ways : [this.#way]) {
        const top = await this.#listBy(way(names, `v${randomHex(8)}`))
        if (top === undefined) continue
        this.#way = way
        return top
      }
    }
    throw new VitrineError('file_failed', 'The workspace could not be listed with find.')
  }

  async #listBy({ argv, format }: FindCommand): Promise<ReadonlyMap<string, FindRecord> | undefined> {
    const run = this.#options.run(argv)
    const records = new FindRecords(format)
    for await (const chunk of run.stdout) records.add(chunk)
    const { exitCode } = await run.exit
    return exitCode === 0 ? records.end() : undefined
  }

  /** The tree asks at once and cannot wait: what it will ask for is read before. */
  async #readChanged(
    before: ReadonlyMap<string, FindRecord>,
    now: ReadonlyMap<string, FindRecord>,
  ): Promise<Map<string, Uint8Array>> {
    const { read, imageBytes } = this.#options
    const contents = new Map<string, Uint8Array>()
    let left = readBytes
    for (const [path, { seen }] of changedFiles(before, now, '')) {
      if (seen.size > imageBytes || seen.size > left) continue
      const bytes = await read(path, imageBytes).catch(() => undefined)
      if (bytes === undefined || bytes.byteLength > imageBytes) continue
      left -= bytes.byteLength
      contents.set(path, bytes)
    }
    return contents
  }
}

function* changedFiles(
  before: ReadonlyMap<string, FindRecord> | undefined,
  now: ReadonlyMap<string, FindRecord>,
  above: string,
): Generator<[path: string, found: FindRecord]> {
  for (const [name, found] of now) {
    const path = above === '' ? name : `${above}/${name}`
    const was = before?.get(name)
    if (found.children !== undefined) yield* changedFiles(was?.children, found.children, path)
    else if (found.seen.kind === 'file' && !isUnchanged(was, found)) yield [path, found]
  }
}

function isUnchanged(was: FindRecord | undefined, { seen }: FindRecord): boolean {
  return (
    was !== undefined &&
    was.seen.ino === seen.ino &&
    was.seen.size === seen.size &&
    was.seen.modified === seen.modified &&
    was.seen.changed === seen.changed
  )
}

class FoundDirectory implements OpenDirectory {
  readonly #path: string
  readonly #children: ReadonlyMap<string, FindRecord> | undefined
  readonly #contents: ReadonlyMap<string, Uint8Array>

  constructor(
    path: string,
    children: ReadonlyMap<string, FindRecord> | undefined,
    contents: ReadonlyMap<string, Uint8Array>,
  ) {
    this.#path = path
    this.#children = children
    this.#contents = contents
  }

  names(): string[] {
    if (this.#children === undefined)
      throw Object.assign(new Error('It may not be read.'), { code: 'EACCES' })
    return [...this.#children.keys()]
  }

  see(name: string) {
    return this.#children?.get(name)?.seen
  }

  enter(name: string): OpenDirectory | undefined {
    const found = this.#children?.get(name)
    if (found?.seen.kind !== 'directory') return undefined
    return new FoundDirectory(this.#below(name), found.children, this.#contents)
  }

  read(name: string, maxBytes: number): Uint8Array | undefined {
    const bytes = this.#contents.get(this.#below(name))
    return bytes !== undefined && bytes.byteLength <= maxBytes ? bytes : undefined
  }

  watch(): { readonly reason: string } {
    return { reason: 'Nobody tells of changes there.' }
  }

  close(): void {}

  #below(name: string): string {
    return this.#path === '' ? name : `${this.#path}/${name}`
  }
}
