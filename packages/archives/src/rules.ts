import type { LeftOut } from '@vitrine/protocol'
import type { ArchiveTally } from './limits.ts'
import { LinkTargets } from './link-target.ts'
import type { Member } from './member.ts'
import { byteLength, memberPath, type NameRules } from './member-name.ts'
import { refusal } from './refusal.ts'

export interface RuleOptions {
  /** How devices, FIFOs and sockets are handled. */
  readonly special: 'refuse' | 'leave-out'
  /** Whether symbolic links may point outside the root. No member is ever unpacked through a link. */
  readonly links: 'inside' | 'any'
  /** The path of the unpacked directory, relative to the root that links must stay in. */
  readonly below: string
  /** That root as processes see it: absolute targets below it are inside. */
  readonly rootPath: string | undefined
  readonly tally: ArchiveTally
}

/** A member that may be unpacked. */
export interface AcceptedMember {
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink'
  /** Relative to the unpacked directory; '' is that directory itself. */
  readonly path: string
  /** Without setuid and setgid. */
  readonly mode: number
  /** For a hard link, the path of an earlier file; for a symbolic link, its text. */
  readonly target: string
}

const ownNames: NameRules = { windows: 'allow', maxBytes: 65_535 }
const foreignNames: NameRules = { windows: 'refuse', maxBytes: 4_095 }
const maxTargetBytes = 4_095
const setIdBits = 0o6000

type KnownKind = 'file' | 'directory' | 'parent' | 'symlink' | 'special'

/** Checks the members of an archive, independent of their order. It does not access the disk. */
export class ArchiveRules {
  readonly #options: RuleOptions
  readonly #names: NameRules
  readonly #known = new Map<string, KnownKind>()
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

  /** Checks a member; returns undefined for one that is left out. */
  check(member: Member): AcceptedMember | undefined {
    const { name, kind, mode } = member
    const path = memberPath(name, this.#names)
    if (path === '' && kind !== 'directory') throw refusal(name, 'is the root but not a directory')
    this.#checkParents(name, path)
    switch (kind) {
      case 'directory':
        this.#register(name, path, 'directory')
        return { kind, path, mode: this.#plainMode(path, mode), target: '' }
      case 'file':
        this.#register(name, path, 'file')
        return { kind, path, mode: this.#plainMode(path, mode), target: '' }
      case 'hardlink': {
        const target = this.#hardLinkTarget(member)
        this.#register(name, path, 'file')
        return { kind, path, mode, target }
      }
      case 'symlink':
        this.#checkTarget(member, path)
        this.#register(name, path, 'symlink')
        this.#recordLink(path, member.target)
        return { kind, path, mode, target: member.target }
      case 'fifo':
      case 'socket':
      case 'device':
        if (this.#options.special === 'refuse') throw refusal(name, `is a ${kind}`)
        this.#register(name, path, 'special')
        this.#leftOut({ path, kind })
        return undefined
    }
  }

  /** Checks the links against each other, once all members are known. */
  *finish(): Generator<undefined> {
    for (const { path, target } of this.#links) {
      if (!this.#targets.staysInside(path, target))
        throw refusal(path, 'is a symbolic link that leads outside through another link')
      yield
    }
  }

  #checkParents(name: string, path: string): void {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    if (parent === this.#parent) return
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash)
      const known = this.#known.get(above)
      if (known === undefined) {
        this.#options.tally.member(above)
        this.#known.set(above, 'parent')
      } else if (known !== 'directory' && known !== 'parent')
        throw refusal(
          name,
          `is under ${known === 'symlink' ? 'a symbolic link' : 'a member that is no directory'}`,
        )
    }
    this.#parent = parent
  }

  #register(name: string, path: string, kind: KnownKind): void {
    const known = this.#known.get(path)
    if (known === undefined) this.#options.tally.member(path)
    else if (kind !== 'directory' || (known !== 'directory' && known !== 'parent'))
      throw refusal(
        name,
        known === 'parent' ? 'has members under it but is no directory' : 'is in the archive twice',
      )
    this.#known.set(path, kind)
  }

  #plainMode(path: string, mode: number): number {
    if ((mode & setIdBits) !== 0 && this.#options.special === 'leave-out')
      this.#leftOut({ path: path === '' ? '.' : path, kind: 'setuid' })
    return mode & 0o1777
  }

  #hardLinkTarget({ name, target }: Member): string {
    let path: string
    try {
      path = memberPath(target, this.#names)
    } catch {
      throw refusal(name, 'is a hard link to a path that is not allowed')
    }
    if (this.#known.get(path) !== 'file')
      throw refusal(name, 'is a hard link to something that is not an earlier file of the archive')
    return path
  }

  #checkTarget({ name, target }: Member, path: string): void {
    if (target === '' || target.includes('\0') || byteLength(target) > maxTargetBytes)
      throw refusal(name, 'is a symbolic link with an invalid target')
    if (this.#options.links === 'inside' && !this.#targetsAlone.staysInside(path, target))
      throw refusal(name, 'is a symbolic link that leads outside')
  }

  #recordLink(path: string, target: string): void {
    this.#options.tally.name(target)
    if (this.#options.links === 'any') return
    this.#links.push({ path, target })
    this.#targets.add(path, target)
  }
}
