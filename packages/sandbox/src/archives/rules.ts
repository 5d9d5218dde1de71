import type { LeftOut } from '@vitrine/protocol'
import type { Tally } from './limits.ts'
import { LinkTargets } from './link-target.ts'
import type { Member } from './member.ts'
import { byteLength, memberPath, type NameRules } from './member-name.ts'
import { refusal } from './refusal.ts'

export interface RuleOptions {
  /** Devices, FIFOs and sockets. */
  readonly special: 'refuse' | 'leave-out'
  /** Whether symbolic links may point out of the root. Nothing is ever unpacked through one. */
  readonly links: 'inside' | 'any'
  /** The path of what is unpacked, from the root that links may not leave. */
  readonly below: string
  /** That root as processes see it: absolute targets below it are inside. */
  readonly rootPath: string | undefined
  readonly tally: Tally
}

/** A member that may be unpacked. */
export interface Judged {
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink'
  /** From where it is unpacked; '' is that directory itself. */
  readonly path: string
  /** Without the bits that make a program run as somebody else. */
  readonly mode: number
  /** Of a hard link the path of a file that came before it, of a symbolic link what it says. */
  readonly target: string
}

const ownNames: NameRules = { windows: 'allow', maxBytes: 65_535 }
const foreignNames: NameRules = { windows: 'refuse', maxBytes: 4_095 }
const maxTargetBytes = 4_095
const becomingOthers = 0o6000

type Held = 'file' | 'directory' | 'parent' | 'symlink' | 'special'

/** The rules that a whole archive must keep, whatever the order of its members. Nothing of it touches a disk. */
export class ArchiveRules {
  readonly #options: RuleOptions
  readonly #names: NameRules
  readonly #held = new Map<string, Held>()
  readonly #links: { readonly path: string; readonly target: string }[] = []
  readonly #targets: LinkTargets
  readonly #targetsAlone: LinkTargets
  readonly #leftOut: (left: LeftOut) => void
  #parent = ''

  constructor(options: RuleOptions, leftOut: (left: LeftOut) => void) {
    this.#options = options
    this.#leftOut = leftOut
    this.#targets = new LinkTargets(options.below, options.rootPath)
    this.#targetsAlone = new LinkTargets(options.below, options.rootPath)
    this.#names = options.links === 'any' ? ownNames : foreignNames
  }

  /** How a member is created; undefined for one that is left out. */
  judge(member: Member): Judged | undefined {
    const { name, kind, mode } = member
    const path = memberPath(name, this.#names)
    if (path === '' && kind !== 'directory') throw refusal(name, 'is the root and yet no directory')
    this.#checkParents(name, path)
    switch (kind) {
      case 'directory':
        this.#register(name, path, 'directory')
        return { kind, path, mode: this.#plain(path, mode), target: '' }
      case 'file':
        this.#register(name, path, 'file')
        return { kind, path, mode: this.#plain(path, mode), target: '' }
      case 'hardlink': {
        const target = this.#linked(member)
        this.#register(name, path, 'file')
        return { kind, path, mode, target }
      }
      case 'symlink':
        this.#checkTarget(member, path)
        this.#register(name, path, 'symlink')
        this.#keepLink(path, member.target)
        return { kind, path, mode, target: member.target }
      case 'fifo':
      case 'socket':
      case 'device':
        if (this.#options.special === 'refuse') throw refusal(name, `is a ${kind}`)
        this.#register(name, path, 'special')
        this.#leftOut({ path, what: kind })
        return undefined
    }
  }

  /** Checks each symbolic link again when all members are known. */
  *finish(): Generator<undefined> {
    for (const { path, target } of this.#links) {
      if (!this.#targets.staysInside(path, target))
        throw refusal(path, 'is a symbolic link that leads out through another one')
      yield
    }
  }

  #checkParents(name: string, path: string): void {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    if (parent === this.#parent) return
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash)
      const held = this.#held.get(above)
      if (held === undefined) {
        this.#options.tally.member(above)
        this.#held.set(above, 'parent')
      } else if (held !== 'directory' && held !== 'parent')
        throw refusal(
          name,
          `lies under ${held === 'symlink' ? 'a symbolic link' : 'something that is no directory'}`,
        )
    }
    this.#parent = parent
  }

  #register(name: string, path: string, kind: Held): void {
    const held = this.#held.get(path)
    if (held === undefined) this.#options.tally.member(path)
    else if (kind !== 'directory' || (held !== 'directory' && held !== 'parent'))
      throw refusal(
        name,
        held === 'parent' ? 'has members under it and is no directory' : 'is in the archive twice',
      )
    this.#held.set(path, kind)
  }

  #plain(path: string, mode: number): number {
    if ((mode & becomingOthers) !== 0 && this.#options.special === 'leave-out')
      this.#leftOut({ path: path === '' ? '.' : path, what: 'setuid' })
    return mode & 0o1777
  }

  #linked({ name, target }: Member): string {
    let path: string
    try {
      path = memberPath(target, this.#names)
    } catch {
      throw refusal(name, 'is a hard link to a path that is not allowed')
    }
    if (this.#held.get(path) !== 'file')
      throw refusal(name, 'is a hard link to something that is no file before it')
    return path
  }

  #checkTarget({ name, target }: Member, path: string): void {
    if (target === '' || target.includes('\0') || byteLength(target) > maxTargetBytes)
      throw refusal(name, 'is a symbolic link with a target that cannot be')
    if (this.#options.links === 'inside' && !this.#targetsAlone.staysInside(path, target))
      throw refusal(name, 'is a symbolic link that leads out')
  }

  #keepLink(path: string, target: string): void {
    this.#options.tally.name(target)
    if (this.#options.links === 'any') return
    this.#links.push({ path, target })
    this.#targets.add(path, target)
  }
}
