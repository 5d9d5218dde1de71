import { randomHex, VitrineError } from '@vitrine/protocol'
import type { Disk, OpenDirectory, WatchedContent } from './disk.ts'
import { type FindCommand, gnuFind, plainFind } from './find-command.ts'
import { type FindRecord, FindRecords } from './find-records.ts'
import type { TreeNode } from './node.ts'

/** Maximum number of bytes read from changed files per refresh. */
const maxReadBytes = 64 * 1024 * 1024
/** Some implementations of find fail when an entry disappears during the listing, so the listing is retried. */
const maxAttempts = 3
const variants = [gnuFind, plainFind]

export interface FindDiskOptions {
  /** Runs a command in the workspace. */
  run(argv: readonly string[]): FindRun
  /** Reads a file. The result may exceed `maxBytes` by one byte, which shows that the file is larger. */
  read(path: string, maxBytes: number): Promise<Uint8Array | undefined>
  /** Patterns of directories that are not listed. */
  readonly prune: readonly string[]
  /** Maximum size of a file that is read; the same as the tree's. */
  readonly imageBytes: number
}

export interface FindRun {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly exit: Promise<{ readonly exitCode: number | null }>
}

/** A workspace that can be accessed by running commands only. It shows the state of the last `refresh`. */
export class FindDisk implements Disk {
  readonly #options: FindDiskOptions
  #top: ReadonlyMap<string, FindRecord> | undefined
  #contents = new Map<string, Uint8Array>()
  #variant: (typeof variants)[number] | undefined

  constructor(options: FindDiskOptions) {
    this.#options = options
  }

  /** Lists the workspace again. On failure, the previous listing stays. */
  async refresh(): Promise<void> {
    const top = await this.#list()
    const contents = this.#top === undefined ? new Map() : await this.#readChanged(this.#top, top)
    this.#top = top
    this.#contents = contents
  }

  open(node: TreeNode): OpenDirectory | undefined {
    if (this.#top === undefined) throw new Error('refresh() was not called yet.')
    const names = node.parent === undefined ? [] : node.path.split('/')
    let children: ReadonlyMap<string, FindRecord> | undefined = this.#top
    let found: FindRecord | undefined
    for (const name of names) {
      found = children?.get(name)
      if (found === undefined) return undefined
      children = found.children
    }
    if (found !== undefined && (found.stat.kind !== 'directory' || found.stat.ino !== node.stat.ino))
      return undefined
    return new FoundDirectory(node.path, children, this.#contents)
  }

  async #list(): Promise<ReadonlyMap<string, FindRecord>> {
    const names = this.#options.prune.filter((pattern) => !pattern.includes('/'))
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      // Keep the variant that worked first: the variants report times with different precision.
      for (const variant of this.#variant === undefined ? variants : [this.#variant]) {
        const top = await this.#listBy(variant(names, `v${randomHex(8)}`))
        if (top === undefined) continue
        this.#variant = variant
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

  /** The tree reads synchronously, so the changed files are read in advance. */
  async #readChanged(
    before: ReadonlyMap<string, FindRecord>,
    now: ReadonlyMap<string, FindRecord>,
  ): Promise<Map<string, Uint8Array>> {
    const { read, imageBytes } = this.#options
    const contents = new Map<string, Uint8Array>()
    let left = maxReadBytes
    for (const [path, { stat }] of changedFiles(before, now, '')) {
      if (stat.size > imageBytes || stat.size > left) continue
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
    else if (found.stat.kind === 'file' && !isUnchanged(was, found)) yield [path, found]
  }
}

function isUnchanged(was: FindRecord | undefined, { stat }: FindRecord): boolean {
  return (
    was !== undefined &&
    was.stat.ino === stat.ino &&
    was.stat.size === stat.size &&
    was.stat.modified === stat.modified &&
    was.stat.changed === stat.changed
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

  stat(name: string) {
    return this.#children?.get(name)?.stat
  }

  enter(name: string): OpenDirectory | undefined {
    const found = this.#children?.get(name)
    if (found?.stat.kind !== 'directory') return undefined
    return new FoundDirectory(this.#below(name), found.children, this.#contents)
  }

  read(name: string, maxBytes: number): WatchedContent | undefined {
    const bytes = this.#contents.get(this.#below(name))
    return bytes !== undefined && bytes.byteLength <= maxBytes ? { bytes } : undefined
  }

  watch(): { readonly reason: string } {
    return { reason: 'A workspace that is accessed through commands has no kernel watches.' }
  }

  close(): void {}

  #below(name: string): string {
    return this.#path === '' ? name : `${this.#path}/${name}`
  }
}
