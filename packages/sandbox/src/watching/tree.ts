import { hash } from 'node:crypto'
import type { TimeSlice } from '@vitrine/archives'
import { isVitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { Change, Image } from './change.ts'
import type { Disk, OpenDirectory } from './disk.ts'
import type { Ignored } from './ignore.ts'
import { Inodes } from './inodes.ts'
import { differs, type EntryStat, isSameEntry, TreeNode, untouched } from './node.ts'

/** Timestamps of file systems have a resolution of up to 10 ms. */
const freshMs = 20
/** Every directory is opened from the root down, so each level costs as many opens as it is deep. */
const maxDepth = 256
/** How often a directory is listed again because entries disappear between its listing and their check. */
const maxListings = 3

export interface TreeOptions {
  readonly disk: Disk
  readonly ignored: Ignored
  readonly maxEntries: number
  readonly imageBytes: number
  /** Receives the kernel's notices about a directory; absent if the tree is polled. */
  readonly onNotice?: (node: TreeNode, name: string | null) => void
  /** Reports a directory whose changes are not, or not completely, observed. */
  onUncovered(path: string, reason: string): void
}

/** A directory entry that may have changed, with its current state; undefined if it does not exist. */
interface EntryCheck {
  readonly directory: TreeNode
  readonly name: string
  readonly now: EntryStat | undefined
}

/** The state of one round of checks. Each check is applied once. */
interface Round {
  readonly emit: (change: Change) => Promise<void> | void
  readonly timeSlice: TimeSlice
  /** The initial scan, which emits no changes. */
  readonly silent: boolean
  /** The checks of entries that exist now, by inode number. */
  readonly appearing: Map<number, EntryCheck>
  readonly inProgress: Set<EntryCheck>
  readonly done: Set<EntryCheck>
}

/**
 * The known state of the workspace. It is compared with the disk for names that may have changed. Every event is a
 * difference between the two, so there is no event without a change.
 */
export class Tree {
  readonly root: TreeNode
  readonly #options: TreeOptions
  readonly #inodes = new Inodes()
  /** Names to check again although there was no notice about them. */
  #rechecks = new Map<TreeNode, Set<string>>()
  #entries = 0

  constructor(options: TreeOptions, root: EntryStat) {
    this.#options = options
    this.root = new TreeNode(undefined, '', root)
  }

  get entries(): number {
    return this.#entries
  }

  /** Scans the workspace without emitting changes. */
  async initialScan(timeSlice: TimeSlice): Promise<void> {
    const round = { ...newRound(() => undefined, timeSlice), silent: true }
    await this.#enter(round, this.root)
  }

  /** Checks names; `null` means a whole directory. Returns the directories that were not at their known path. */
  async check(
    dirty: ReadonlyMap<TreeNode, ReadonlySet<string> | null>,
    emit: Round['emit'],
    timeSlice: TimeSlice,
  ): Promise<Map<TreeNode, ReadonlySet<string> | null>> {
    const round = newRound(emit, timeSlice)
    const later = new Map<TreeNode, ReadonlySet<string> | null>()
    const checks: EntryCheck[] = []
    // Outer directories first.
    for (const [directory, names] of [...dirty].toSorted(([a], [b]) => a.depth - b.depth)) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      if (!this.#isInTree(directory)) continue
      const found = await this.#checksOf(directory, names, timeSlice)
      if (found === undefined) later.set(directory, names)
      else for (const check of found) checks.push(check)
    }
    for (const check of checks) if (check.now !== undefined) round.appearing.set(check.now.ino, check)
    for (const check of checks) if (check.now !== undefined) await this.#apply(round, check)
    for (const check of checks) if (check.now === undefined) await this.#apply(round, check)
    await this.#recheckScheduled(round, later)
    return later
  }

  /** All known directories. */
  *directories(node: TreeNode = this.root): Generator<TreeNode> {
    yield node
    for (const child of node.children?.values() ?? []) if (child.children) yield* this.directories(child)
  }

  close(): void {
    for (const directory of this.directories()) directory.unwatch?.()
  }

  #isInTree(node: TreeNode): boolean {
    return node.isWithin(this.root)
  }

  async #checksOf(
    directory: TreeNode,
    names: ReadonlySet<string> | null,
    timeSlice: TimeSlice,
  ): Promise<EntryCheck[] | undefined> {
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(directory)
      if (open === undefined) return undefined
      for (let attempt = 1; ; attempt += 1) {
        const listed = new Set(names === null ? open.names() : [])
        const wanted = names ?? new Set([...listed, ...(directory.children?.keys() ?? [])])
        const checks: EntryCheck[] = []
        let isTorn = false
        for (const name of wanted) {
          if (timeSlice.expired) await timeSlice.yieldToEventLoop()
          if (this.#isIgnored(directory, name)) continue
          const now = open.stat(name)
          const known = directory.children?.get(name)
          if (now !== undefined || known !== undefined) checks.push({ directory, name, now })
          isTorn ||= now === undefined && listed.has(name)
        }
        // An entry that was moved after the listing would be seen under neither name.
        if (!isTorn || attempt === maxListings) return checks
      }
    } catch (error) {
      if (isVitrineError(error)) throw error
      // The known state of an unreadable directory stays.
      this.#cannotRead(directory, error)
      return []
    } finally {
      open?.close()
    }
  }

  #isIgnored(directory: TreeNode, name: string): boolean {
    return this.#options.ignored(pathIn(directory, name), name)
  }

  async #recheckScheduled(round: Round, later: Map<TreeNode, ReadonlySet<string> | null>): Promise<void> {
    const rechecks = this.#rechecks
    this.#rechecks = new Map()
    for (const [directory, names] of rechecks) {
      if (!this.#isInTree(directory)) continue
      const checks = await this.#checksOf(directory, names, round.timeSlice)
      const more = later.get(directory)
      if (checks === undefined && more !== null) later.set(directory, new Set([...(more ?? []), ...names]))
      for (const check of checks ?? []) {
        const known = directory.children?.get(check.name)
        if (
          check.now &&
          known &&
          isSameEntry(known.stat, check.now) &&
          differs(known.stat, check.now) === 'no'
        )
          continue
        await this.#apply(round, check)
      }
    }
  }

  async #apply(round: Round, check: EntryCheck): Promise<void> {
    if (round.done.has(check) || round.inProgress.has(check)) return
    round.inProgress.add(check)
    if (round.timeSlice.expired) await round.timeSlice.yieldToEventLoop()
    await this.#applyNow(round, check)
    round.done.add(check)
  }

  async #applyNow(round: Round, { directory, name, now }: EntryCheck): Promise<void> {
    if (!this.#isInTree(directory)) return
    const known = directory.children!.get(name)
    if (known !== undefined && now !== undefined && isSameEntry(known.stat, now)) {
      await this.#compare(round, known, now)
      if (known.children !== undefined && !known.entered) await this.#enter(round, known)
      return
    }
    // If the entry that had this name was moved, apply the move first.
    if (known !== undefined) await this.#applyMovesOutOf(round, known)
    const left = directory.children!.get(name)
    if (now === undefined) {
      if (left !== undefined) await this.#delete(round, left)
      return
    }
    const from = this.#previousNode(now)
    // A directory cannot move into itself or replace its ancestor; a state that looks so becomes a delete and a create.
    if (from !== undefined && !directory.isWithin(from) && !(left !== undefined && from.isWithin(left)))
      await this.#move(round, from, directory, name, now, left)
    else if (left !== undefined && left.stat.kind === now.kind) await this.#replace(round, left, now)
    else {
      if (left !== undefined) await this.#delete(round, left)
      await this.#create(round, directory, name, now)
    }
  }

  /** Applies the checks of this round in which the node, or a descendant, appears at another path. */
  async #applyMovesOutOf(round: Round, node: TreeNode): Promise<void> {
    const check = round.appearing.get(node.stat.ino)
    if (check?.now !== undefined && isSameEntry(check.now, node.stat)) await this.#apply(round, check)
    for (const child of [...(node.children?.values() ?? [])]) await this.#applyMovesOutOf(round, child)
  }

  /** Finds the node that an entry was moved from: same file, and no longer at the known path. */
  #previousNode(now: EntryStat): TreeNode | undefined {
    const node = this.#inodes.at(now.ino)
    if (
      node === undefined ||
      !isSameEntry(node.stat, now) ||
      !this.#isInTree(node) ||
      node.parent === undefined
    )
      return undefined
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(node.parent)
      const there = open?.stat(node.name)
      // The old name still exists, so the new one is a hard link.
      if (there !== undefined && there.ino === now.ino) return undefined
      return node
    } catch {
      return undefined
    } finally {
      open?.close()
    }
  }

  async #compare(round: Round, node: TreeNode, found: EntryStat): Promise<void> {
    const { stat, fresh } = node
    if (differs(stat, found) === 'no' && !(fresh && found.kind === 'file')) return
    const content = this.#read(node, found)
    const now = content?.stat ?? found
    const difference = differs(stat, now)
    // A changed link count explains the new ctime, so the content is presumed the same.
    const presumedSame = difference === 'no' || (difference === 'perhaps' && stat.links !== now.links)
    const sameContent =
      content === undefined || node.digest === undefined ? presumedSame : content.digest === node.digest
    if (difference !== 'yes' && sameContent) {
      this.#remember(node, now, content?.digest ?? node.digest)
      return
    }
    await this.#changed(round, node, now, content)
  }

  async #replace(round: Round, node: TreeNode, found: EntryStat): Promise<void> {
    if (found.kind === 'directory') {
      const before = node.stat
      this.#unindexInode(node)
      node.unwatch?.()
      this.#remember(node, found, undefined)
      this.#indexInode(node)
      if (differs({ ...before, ino: found.ino }, found) === 'yes') await round.emit(changeOf('changed', node))
      await this.#enter(round, node)
      return
    }
    const content = this.#read(node, found)
    const now = content?.stat ?? found
    const sameContent =
      content !== undefined &&
      content.digest === node.digest &&
      differs({ ...now, ino: node.stat.ino, changed: node.stat.changed }, node.stat) === 'no'
    this.#unindexInode(node)
    if (sameContent) this.#remember(node, now, content.digest)
    else await this.#changed(round, node, now, content)
    this.#indexInode(node)
  }

  async #changed(round: Round, node: TreeNode, now: EntryStat, content: Content | undefined): Promise<void> {
    const before = node.image
    // Only the permissions changed, so the stored image stays valid.
    const unchangedImage =
      content !== undefined && content.digest === node.digest && before !== untouched
        ? { after: before }
        : undefined
    this.#remember(node, now, content?.digest)
    await round.emit({
      ...changeOf('changed', node),
      ...(now.kind === 'file' && { before, ...(unchangedImage ?? this.#setImage(node, now, content)) }),
    })
  }

  async #create(round: Round, directory: TreeNode, name: string, found: EntryStat): Promise<void> {
    const node = this.#add(directory, name, found)
    if (node === undefined) return
    const content = this.#read(node, found)
    const now = content?.stat ?? found
    this.#remember(node, now, content?.digest)
    await round.emit({
      ...changeOf('created', node),
      ...(now.kind === 'file' && this.#setImage(node, now, content)),
    })
    if (now.kind === 'directory') await this.#enter(round, node)
  }

  async #move(
    round: Round,
    node: TreeNode,
    directory: TreeNode,
    name: string,
    found: EntryStat,
    replaced: TreeNode | undefined,
  ): Promise<void> {
    // The move event implies the replaced entry's end, but entries below it need their own delete events.
    if (replaced !== undefined && replaced.stat.kind !== found.kind) await this.#delete(round, replaced)
    else if (replaced !== undefined) {
      for (const entry of [...this.#descendants(replaced)]) await round.emit(deletionOf(entry, entry.path))
      this.#drop(replaced)
    }
    if (this.#options.ignored.byPath) await this.#deleteIgnored(round, node, pathIn(directory, name))
    // A file with hard links may still exist under the old name, e.g. if its directory was moved.
    if (found.links > 1 && found.kind !== 'directory') this.#scheduleRecheck(node.parent!, node.name)
    const previousPath = node.path
    const entries = [...this.#descendants(node)].map((entry) => ({ entry, previousPath: entry.path }))
    node.parent!.children!.delete(node.name)
    node.parent = directory
    node.name = name
    directory.children!.set(name, node)
    for (const { entry, previousPath: was } of entries)
      await round.emit({ ...changeOf('moved', entry), previousPath: was, ...unchanged(entry) })
    // The rename itself updated the ctime, so a rewrite with a reset mtime shows only in the content.
    // A file that could not be read earlier because it was being moved is read now.
    const wasUnreadable = node.image?.omitted === 'unreadable'
    const content =
      isRewritten(node.stat, found) || wasUnreadable || node.digest !== undefined
        ? this.#read(node, found)
        : undefined
    const now = content?.stat ?? found
    const rewritten =
      isRewritten(node.stat, now) ||
      (content !== undefined && (wasUnreadable || content.digest !== node.digest))
    const before = node.image
    this.#remember(node, now, rewritten ? content?.digest : node.digest)
    await round.emit({
      ...changeOf('moved', node),
      previousPath,
      ...(rewritten ? { before, ...this.#setImage(node, now, content) } : unchanged(node)),
    })
    for (const directory of [...this.directories(node)])
      if (directory.children !== undefined && !directory.entered) await this.#enter(round, directory)
  }

  /** Deletes descendants whose path is ignored after a move. The next scan finds those that are no longer ignored. */
  async #deleteIgnored(round: Round, node: TreeNode, path: string): Promise<void> {
    node.entered = false
    for (const child of [...(node.children?.values() ?? [])]) {
      const next = `${path}/${child.name}`
      if (this.#options.ignored(next, child.name)) await this.#delete(round, child)
      else await this.#deleteIgnored(round, child, next)
    }
  }

  async #delete(round: Round, node: TreeNode): Promise<void> {
    const path = node.path
    for (const entry of this.#descendants(node)) await round.emit(deletionOf(entry, entry.path))
    this.#drop(node)
    await round.emit(deletionOf(node, path))
  }

  /** Yields all descendants, innermost first. */
  *#descendants(node: TreeNode): Generator<TreeNode> {
    for (const child of [...(node.children?.values() ?? [])]) {
      yield* this.#descendants(child)
      yield child
    }
  }

  #drop(node: TreeNode): void {
    for (const child of [...(node.children?.values() ?? [])]) this.#drop(child)
    node.unwatch?.()
    node.unwatch = undefined
    this.#unindexInode(node)
    if (node.parent?.children?.get(node.name) === node) {
      node.parent.children.delete(node.name)
      this.#entries -= 1
    }
    node.parent = undefined
  }

  /** Watches a directory before scanning it, so that no change in between is missed; it may be seen twice. */
  async #enter(round: Round, node: TreeNode, above?: OpenDirectory): Promise<void> {
    if (node.depth >= maxDepth) {
      this.#options.onUncovered(node.path, `Only ${maxDepth} levels of directories are followed.`)
      return
    }
    let open: OpenDirectory | undefined
    try {
      open = above === undefined ? this.#options.disk.open(node) : above.enter(node.name)
      // The directory was moved or removed; it is entered when it is found again.
      if (open === undefined) return
      node.entered = true
      node.unwatch?.()
      this.#watch(node, open)
      await this.#scan(round, node, open)
    } catch (error) {
      if (isVitrineError(error)) throw error
      this.#cannotRead(node, error)
    } finally {
      open?.close()
    }
  }

  /** Reports an unreadable directory. It is scanned again at its next notice. */
  #cannotRead(directory: TreeNode, error: unknown): void {
    directory.entered = false
    const errno = systemErrorCode(error)
    // Removed meanwhile: a notice of the parent follows.
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return
    const may = errno === 'EACCES' || errno === 'EPERM' ? 'may not' : 'cannot'
    this.#options.onUncovered(directory.path, `It ${may} be read.`)
  }

  async #scan(round: Round, directory: TreeNode, open: OpenDirectory): Promise<void> {
    const missing = new Set(directory.children?.keys())
    for (const name of open.names()) {
      if (round.timeSlice.expired) await round.timeSlice.yieldToEventLoop()
      missing.delete(name)
      if (this.#isIgnored(directory, name)) continue
      const now = open.stat(name)
      if (now === undefined) continue
      if (!round.silent) await this.#apply(round, { directory, name, now })
      else {
        const node = this.#add(directory, name, now)
        if (node?.children !== undefined) await this.#enter(round, node, open)
      }
    }
    for (const name of missing) await this.#apply(round, { directory, name, now: undefined })
  }

  #add(directory: TreeNode, name: string, now: EntryStat): TreeNode | undefined {
    if (this.#entries >= this.#options.maxEntries) {
      const path = now.kind === 'directory' ? pathIn(directory, name) : directory.path
      this.#options.onUncovered(
        path,
        `Only ${this.#options.maxEntries} entries are followed (watch.maxEntries).`,
      )
      return undefined
    }
    this.#entries += 1
    const node = new TreeNode(directory, name, now)
    node.fresh = isFresh(now)
    directory.children!.set(name, node)
    this.#indexInode(node)
    return node
  }

  #watch(node: TreeNode, open: OpenDirectory): void {
    const { onNotice } = this.#options
    if (onNotice === undefined) return
    const watching = open.watch((name) => onNotice(node, name))
    if (typeof watching === 'function') node.unwatch = watching
    else this.#options.onUncovered(node.path, watching.reason)
  }

  #remember(node: TreeNode, now: EntryStat, digest: string | undefined): void {
    node.stat = now
    this.#recheckOtherLinks(node)
    node.fresh = isFresh(now)
    node.digest = digest
  }

  #indexInode(node: TreeNode): void {
    this.#inodes.add(node)
    this.#recheckOtherLinks(node)
  }

  #unindexInode(node: TreeNode): void {
    this.#recheckOtherLinks(node)
    this.#inodes.forget(node)
  }

  /** A change through one hard link affects all of them. */
  #recheckOtherLinks(node: TreeNode): void {
    for (const other of this.#inodes.others(node))
      if (other.parent !== undefined) this.#scheduleRecheck(other.parent, other.name)
  }

  #scheduleRecheck(directory: TreeNode, name: string): void {
    const names = this.#rechecks.get(directory) ?? new Set()
    this.#rechecks.set(directory, names.add(name))
  }

  #read(node: TreeNode, now: EntryStat): Content | undefined {
    if (now.kind !== 'file' || now.size > this.#options.imageBytes || node.parent === undefined)
      return undefined
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(node.parent)
      const found = open?.read(node.name, this.#options.imageBytes)
      if (found === undefined) return undefined
      const { bytes, stat } = found
      const digest = hash('sha256', bytes, 'base64url')
      const same = stat !== undefined && stat.ino === now.ino
      return { bytes, digest, stat: same ? stat : { ...now, size: bytes.byteLength } }
    } catch {
      return undefined
    } finally {
      open?.close()
    }
  }

  #setImage(node: TreeNode, now: EntryStat, content: Content | undefined): Partial<Change> {
    const omitted = this.#omissionReason(node, now, content)
    node.image = omitted === undefined ? {} : { omitted }
    return { after: node.image, ...(omitted === undefined && content && { content: content.bytes }) }
  }

  #omissionReason(node: TreeNode, now: EntryStat, content: Content | undefined): string | undefined {
    if (isPrivate(node.name)) return 'private'
    if (now.size > this.#options.imageBytes) return 'size'
    return content === undefined ? 'unreadable' : undefined
  }
}

interface Content {
  readonly bytes: Uint8Array
  readonly digest: string
  /** The attributes that belong to the bytes. They are newer than those of the check if the file was written to meanwhile. */
  readonly stat: EntryStat
}

function newRound(emit: Round['emit'], timeSlice: TimeSlice): Round {
  return {
    emit: emit,
    timeSlice,
    silent: false,
    appearing: new Map(),
    inProgress: new Set(),
    done: new Set(),
  }
}

function pathIn(directory: TreeNode, name: string): string {
  return directory.parent === undefined ? name : `${directory.path}/${name}`
}

function isRewritten(before: EntryStat, now: EntryStat): boolean {
  return now.kind === 'file' && (now.size !== before.size || now.modified !== before.modified)
}

function isFresh({ changed }: EntryStat): boolean {
  return Date.now() - changed < freshMs
}

/** Files that hold secrets by convention. Their content is compared but never stored. */
function isPrivate(name: string): boolean {
  return name.startsWith('.env')
}

function changeOf(type: Change['type'], { path, stat: { kind, size } }: TreeNode): Change {
  return { type, path, kind, ...(kind !== 'directory' && { size }) }
}

function unchanged({ stat, image }: TreeNode): { before?: Image; after?: Image } {
  return stat.kind === 'file' ? { before: image, after: image } : {}
}

function deletionOf({ stat: { kind }, image }: TreeNode, path: string): Change {
  return { type: 'deleted', path, kind, ...(kind === 'file' && { before: image }) }
}
