import { hash } from 'node:crypto'
import { isVitrineError } from '@vitrine/protocol'
import { errnoOf } from '../files/handle.ts'
import type { TimeSlice } from '../files/time-slice.ts'
import type { Change, Image } from './change.ts'
import type { Disk, OpenDirectory } from './disk.ts'
import type { Ignored } from './ignore.ts'
import { Inodes } from './inodes.ts'
import { differs, isSame, Node, type Seen, untouched } from './node.ts'

/** File systems tell time in steps of up to 10 ms. */
const freshMs = 20
/** Every directory is reached from the root, so each level costs all of those above it. */
const maxDepth = 256

export interface TreeOptions {
  readonly disk: Disk
  readonly ignored: Ignored
  readonly maxEntries: number
  readonly imageBytes: number
  /** Has the kernel tell about a directory; absent when it is looked at every so often anyway. */
  readonly onNotice?: (node: Node, name: string | null) => void
  /** A directory whose changes will not be seen, or not all of them. */
  onUncovered(path: string, reason: string): void
}

/** A name of a directory that may have changed. */
interface EntryCheck {
  readonly directory: Node
  readonly name: string
  readonly now: Seen | undefined
}

/** One round of looking: what is found is told, and never twice. */
interface Round {
  readonly emit: (change: Change) => Promise<void> | void
  readonly pace: TimeSlice
  /** Nothing is told: it is only learnt what there is. */
  readonly silent: boolean
  /** What is to be settled, by what is there now. */
  readonly appearing: Map<number, EntryCheck>
  readonly settling: Set<EntryCheck>
  readonly done: Set<EntryCheck>
}

/**
 * What is known of the workspace. It learns by looking at names that may have changed, and every event is a
 * difference between what was known and what is there: so there is none without a change.
 */
export class Tree {
  readonly root: Node
  readonly #options: TreeOptions
  readonly #inodes = new Inodes()
  /** Names to look at again, though nothing was heard of them. */
  #doubtful = new Map<Node, Set<string>>()
  #entries = 0

  constructor(options: TreeOptions, root: Seen) {
    this.#options = options
    this.root = new Node(undefined, '', root)
  }

  get entries(): number {
    return this.#entries
  }

  /** Learns what there is, without a word. */
  async begin(pace: TimeSlice): Promise<void> {
    const round = { ...newRound(() => undefined, pace), silent: true }
    await this.#enter(round, this.root)
  }

  /** Looks at names; `null` means all of a directory. Gives back what could not be reached where it should be. */
  async look(
    dirty: ReadonlyMap<Node, ReadonlySet<string> | null>,
    tell: Round['emit'],
    pace: TimeSlice,
  ): Promise<Map<Node, ReadonlySet<string> | null>> {
    const round = newRound(tell, pace)
    const later = new Map<Node, ReadonlySet<string> | null>()
    const slots: EntryCheck[] = []
    // What is above is known first.
    for (const [directory, names] of [...dirty].toSorted(([a], [b]) => a.depth - b.depth)) {
      if (pace.expired) await pace.yieldToEventLoop()
      if (!this.#isKnown(directory)) continue
      const found = await this.#slotsOf(directory, names, pace)
      if (found === undefined) later.set(directory, names)
      else for (const slot of found) slots.push(slot)
    }
    for (const slot of slots) if (slot.now !== undefined) round.appearing.set(slot.now.ino, slot)
    for (const slot of slots) if (slot.now !== undefined) await this.#settle(round, slot)
    for (const slot of slots) if (slot.now === undefined) await this.#settle(round, slot)
    await this.#settleDoubts(round, later)
    return later
  }

  /** Every directory that is known. */
  *directories(node: Node = this.root): Generator<Node> {
    yield node
    for (const child of node.children?.values() ?? []) if (child.children) yield* this.directories(child)
  }

  close(): void {
    for (const directory of this.directories()) directory.unwatch?.()
  }

  #isKnown(node: Node): boolean {
    return node.isWithin(this.root)
  }

  async #slotsOf(
    directory: Node,
    names: ReadonlySet<string> | null,
    pace: TimeSlice,
  ): Promise<EntryCheck[] | undefined> {
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(directory)
      if (open === undefined) return undefined
      const wanted = names ?? new Set([...open.names(), ...(directory.children?.keys() ?? [])])
      const slots: EntryCheck[] = []
      for (const name of wanted) {
        if (pace.expired) await pace.yieldToEventLoop()
        if (this.#isIgnored(directory, name)) continue
        const now = open.see(name)
        const known = directory.children?.get(name)
        if (now !== undefined || known !== undefined) slots.push({ directory, name, now })
      }
      return slots
    } catch (error) {
      if (isVitrineError(error)) throw error
      // What is known of it stays.
      this.#cannotRead(directory, error)
      return []
    } finally {
      open?.close()
    }
  }

  #isIgnored(directory: Node, name: string): boolean {
    return this.#options.ignored(pathIn(directory, name), name)
  }

  async #settleDoubts(round: Round, later: Map<Node, ReadonlySet<string> | null>): Promise<void> {
    const doubtful = this.#doubtful
    this.#doubtful = new Map()
    for (const [directory, names] of doubtful) {
      if (!this.#isKnown(directory)) continue
      const slots = await this.#slotsOf(directory, names, round.pace)
      const more = later.get(directory)
      if (slots === undefined && more !== null) later.set(directory, new Set([...(more ?? []), ...names]))
      for (const slot of slots ?? []) {
        const known = directory.children?.get(slot.name)
        if (slot.now && known && isSame(known.seen, slot.now) && differs(known.seen, slot.now) === 'no')
          continue
        await this.#settle(round, slot)
      }
    }
  }

  async #settle(round: Round, slot: EntryCheck): Promise<void> {
    if (round.done.has(slot) || round.settling.has(slot)) return
    round.settling.add(slot)
    if (round.pace.expired) await round.pace.yieldToEventLoop()
    await this.#settleNow(round, slot)
    round.done.add(slot)
  }

  async #settleNow(round: Round, { directory, name, now }: EntryCheck): Promise<void> {
    if (!this.#isKnown(directory)) return
    const known = directory.children!.get(name)
    if (known !== undefined && now !== undefined && isSame(known.seen, now)) {
      await this.#compare(round, known, now)
      if (known.children !== undefined && !known.entered) await this.#enter(round, known)
      return
    }
    // Whoever was here and is somewhere else now goes there first.
    if (known !== undefined) await this.#settleMovesOutOf(round, known)
    const left = directory.children!.get(name)
    if (now === undefined) {
      if (left !== undefined) await this.#delete(round, left)
      return
    }
    const from = this.#whereItWas(now)
    // Nothing is moved into itself, or over what holds it; what looks so is told as what it amounts to.
    if (from !== undefined && !directory.isWithin(from) && !(left !== undefined && from.isWithin(left)))
      await this.#move(round, from, directory, name, now, left)
    else if (left !== undefined && left.seen.kind === now.kind) await this.#replace(round, left, now)
    else {
      if (left !== undefined) await this.#delete(round, left)
      await this.#create(round, directory, name, now)
    }
  }

  /** It, or something below it, that appears elsewhere in this round. */
  async #settleMovesOutOf(round: Round, node: Node): Promise<void> {
    const slot = round.appearing.get(node.seen.ino)
    if (slot?.now !== undefined && isSame(slot.now, node.seen)) await this.#settle(round, slot)
    for (const child of [...(node.children?.values() ?? [])]) await this.#settleMovesOutOf(round, child)
  }

  /** The name under which something was known that is not there any more. */
  #whereItWas(now: Seen): Node | undefined {
    const node = this.#inodes.at(now.ino)
    if (node === undefined || !isSame(node.seen, now) || !this.#isKnown(node) || node.parent === undefined)
      return undefined
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(node.parent)
      const there = open?.see(node.name)
      // Another name of the same file: a hard link.
      if (there !== undefined && there.ino === now.ino) return undefined
      return node
    } catch {
      return undefined
    } finally {
      open?.close()
    }
  }

  async #compare(round: Round, node: Node, now: Seen): Promise<void> {
    const { seen, fresh } = node
    const answer = differs(seen, now)
    if (answer === 'no' && !(fresh && now.kind === 'file')) return
    const content = this.#read(node, now)
    // One more name, or one less: the file is what it was.
    const likely = answer === 'no' || (answer === 'perhaps' && seen.links !== now.links)
    const alike = content === undefined || node.digest === undefined ? likely : content.digest === node.digest
    if (answer !== 'yes' && alike) {
      this.#remember(node, now, content?.digest ?? node.digest)
      return
    }
    await this.#changed(round, node, now, content)
  }

  async #replace(round: Round, node: Node, now: Seen): Promise<void> {
    if (now.kind === 'directory') {
      const before = node.seen
      this.#unindexInode(node)
      node.unwatch?.()
      this.#remember(node, now, undefined)
      this.#indexInode(node)
      if (differs({ ...before, ino: now.ino }, now) === 'yes') await round.emit(told('changed', node))
      await this.#enter(round, node)
      return
    }
    const content = this.#read(node, now)
    const alike =
      content !== undefined &&
      content.digest === node.digest &&
      differs({ ...now, ino: node.seen.ino, changed: node.seen.changed }, node.seen) === 'no'
    this.#unindexInode(node)
    if (alike) this.#remember(node, now, content.digest)
    else await this.#changed(round, node, now, content)
    this.#indexInode(node)
  }

  async #changed(round: Round, node: Node, now: Seen, content: Content | undefined): Promise<void> {
    const before = node.image
    // Only its rights are other ones: what is kept of it stays.
    const kept =
      content !== undefined && content.digest === node.digest && before !== untouched
        ? { after: before }
        : undefined
    this.#remember(node, now, content?.digest)
    await round.emit({
      ...told('changed', node),
      ...(now.kind === 'file' && { before, ...(kept ?? this.#keep(node, now, content)) }),
    })
  }

  async #create(round: Round, directory: Node, name: string, now: Seen): Promise<void> {
    const node = this.#add(directory, name, now)
    if (node === undefined) return
    const content = this.#read(node, now)
    this.#remember(node, now, content?.digest)
    await round.emit({
      ...told('created', node),
      ...(now.kind === 'file' && this.#keep(node, now, content)),
    })
    if (now.kind === 'directory') await this.#enter(round, node)
  }

  async #move(
    round: Round,
    node: Node,
    directory: Node,
    name: string,
    now: Seen,
    over: Node | undefined,
  ): Promise<void> {
    // What it takes the place of goes with it, but what was below has a word of its own.
    if (over !== undefined && over.seen.kind !== now.kind) await this.#delete(round, over)
    else if (over !== undefined) {
      for (const entry of [...this.#below(over)]) await round.emit(gone(entry, entry.path))
      this.#drop(over)
    }
    if (this.#options.ignored.byPath) await this.#leaveIgnored(round, node, pathIn(directory, name))
    // One of several names: its directory may have moved, and it may still be in there.
    if (now.links > 1 && now.kind !== 'directory') this.#doubt(node.parent!, node.name)
    const previousPath = node.path
    const entries = [...this.#below(node)].map((entry) => ({ entry, previousPath: entry.path }))
    node.parent!.children!.delete(node.name)
    node.parent = directory
    node.name = name
    directory.children!.set(name, node)
    for (const { entry, previousPath: was } of entries)
      await round.emit({ ...told('moved', entry), previousPath: was, ...unchanged(entry) })
    const touched =
      now.kind === 'file' && (now.size !== node.seen.size || now.modified !== node.seen.modified)
    // The move itself has set the time that tells of a content whose own time was put back.
    // It was moved just when it was to be read: then it is read here.
    const missed = node.image?.unkept === 'unreadable'
    const content = touched || missed || node.digest !== undefined ? this.#read(node, now) : undefined
    const rewritten = touched || (content !== undefined && (missed || content.digest !== node.digest))
    const before = node.image
    this.#remember(node, now, rewritten ? content?.digest : node.digest)
    await round.emit({
      ...told('moved', node),
      previousPath,
      ...(rewritten ? { before, ...this.#keep(node, now, content) } : unchanged(node)),
    })
    for (const directory of [...this.directories(node)])
      if (directory.children !== undefined && !directory.entered) await this.#enter(round, directory)
  }

  /** What will be at an ignored path after a move goes; what will not be any more is found by looking. */
  async #leaveIgnored(round: Round, node: Node, path: string): Promise<void> {
    node.entered = false
    for (const child of [...(node.children?.values() ?? [])]) {
      const next = `${path}/${child.name}`
      if (this.#options.ignored(next, child.name)) await this.#delete(round, child)
      else await this.#leaveIgnored(round, child, next)
    }
  }

  async #delete(round: Round, node: Node): Promise<void> {
    const path = node.path
    for (const entry of this.#below(node)) await round.emit(gone(entry, entry.path))
    this.#drop(node)
    await round.emit(gone(node, path))
  }

  /** The innermost first. */
  *#below(node: Node): Generator<Node> {
    for (const child of [...(node.children?.values() ?? [])]) {
      yield* this.#below(child)
      yield child
    }
  }

  #drop(node: Node): void {
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

  /** First watched, then looked at: what comes in between is seen twice and told once. */
  async #enter(round: Round, node: Node, above?: OpenDirectory): Promise<void> {
    if (node.depth >= maxDepth) {
      this.#options.onUncovered(node.path, `Only ${maxDepth} levels of directories are followed.`)
      return
    }
    let open: OpenDirectory | undefined
    try {
      open = above === undefined ? this.#options.disk.open(node) : above.enter(node.name)
      // Somewhere else by now, or gone: it is entered where it turns up.
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

  /** It is looked through once something is heard of it again. */
  #cannotRead(directory: Node, error: unknown): void {
    directory.entered = false
    const errno = errnoOf(error)
    // Gone in this moment: whatever held it has changed.
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return
    const may = errno === 'EACCES' || errno === 'EPERM' ? 'may not' : 'cannot'
    this.#options.onUncovered(directory.path, `It ${may} be read.`)
  }

  async #scan(round: Round, directory: Node, open: OpenDirectory): Promise<void> {
    const gone = new Set(directory.children?.keys())
    for (const name of open.names()) {
      if (round.pace.expired) await round.pace.yieldToEventLoop()
      gone.delete(name)
      if (this.#isIgnored(directory, name)) continue
      const now = open.see(name)
      if (now === undefined) continue
      if (!round.silent) await this.#settle(round, { directory, name, now })
      else {
        const node = this.#add(directory, name, now)
        if (node?.children !== undefined) await this.#enter(round, node, open)
      }
    }
    for (const name of gone) await this.#settle(round, { directory, name, now: undefined })
  }

  #add(directory: Node, name: string, now: Seen): Node | undefined {
    if (this.#entries >= this.#options.maxEntries) {
      const where = now.kind === 'directory' ? pathIn(directory, name) : directory.path
      this.#options.onUncovered(
        where,
        `Only ${this.#options.maxEntries} entries are followed (watch.maxEntries).`,
      )
      return undefined
    }
    this.#entries += 1
    const node = new Node(directory, name, now)
    node.fresh = isFresh(now)
    directory.children!.set(name, node)
    this.#indexInode(node)
    return node
  }

  #watch(node: Node, open: OpenDirectory): void {
    const { onNotice: heard } = this.#options
    if (heard === undefined) return
    const watching = open.watch((name) => heard(node, name))
    if (typeof watching === 'function') node.unwatch = watching
    else this.#options.onUncovered(node.path, watching.reason)
  }

  #remember(node: Node, now: Seen, digest: string | undefined): void {
    node.seen = now
    this.#doubtOthers(node)
    node.fresh = isFresh(now)
    node.digest = digest
  }

  #indexInode(node: Node): void {
    this.#inodes.add(node)
    this.#doubtOthers(node)
  }

  #unindexInode(node: Node): void {
    this.#doubtOthers(node)
    this.#inodes.forget(node)
  }

  /** What happened to a file under one name has happened under all. */
  #doubtOthers(node: Node): void {
    for (const other of this.#inodes.others(node))
      if (other.parent !== undefined) this.#doubt(other.parent, other.name)
  }

  #doubt(directory: Node, name: string): void {
    const names = this.#doubtful.get(directory) ?? new Set()
    this.#doubtful.set(directory, names.add(name))
  }

  #read(node: Node, now: Seen): Content | undefined {
    if (now.kind !== 'file' || now.size > this.#options.imageBytes || node.parent === undefined)
      return undefined
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(node.parent)
      const bytes = open?.read(node.name, this.#options.imageBytes)
      return bytes && { bytes, digest: hash('sha256', bytes, 'base64url') }
    } catch {
      return undefined
    } finally {
      open?.close()
    }
  }

  #keep(node: Node, now: Seen, content: Content | undefined): Partial<Change> {
    const unkept = this.#unkept(node, now, content)
    node.image = unkept === undefined ? {} : { unkept }
    return { after: node.image, ...(unkept === undefined && content && { content: content.bytes }) }
  }

  #unkept(node: Node, now: Seen, content: Content | undefined): string | undefined {
    if (isPrivate(node.name)) return 'private'
    if (now.size > this.#options.imageBytes) return 'size'
    return content === undefined ? 'unreadable' : undefined
  }
}

interface Content {
  readonly bytes: Uint8Array
  readonly digest: string
}

function newRound(tell: Round['emit'], pace: TimeSlice): Round {
  return { emit: tell, pace, silent: false, appearing: new Map(), settling: new Set(), done: new Set() }
}

function pathIn(directory: Node, name: string): string {
  return directory.parent === undefined ? name : `${directory.path}/${name}`
}

function isFresh({ changed }: Seen): boolean {
  return Date.now() - changed < freshMs
}

/** Files that hold secrets by custom. Their content is compared and never kept. */
function isPrivate(name: string): boolean {
  return name.startsWith('.env')
}

function told(type: Change['type'], { path, seen: { kind, size } }: Node): Change {
  return { type, path, kind, ...(kind !== 'directory' && { size }) }
}

function unchanged({ seen, image }: Node): { before?: Image; after?: Image } {
  return seen.kind === 'file' ? { before: image, after: image } : {}
}

function gone({ seen: { kind }, image }: Node, path: string): Change {
  return { type: 'deleted', path, kind, ...(kind === 'file' && { before: image }) }
}
