import type { LeftOut, Unpacked } from '@vitrine/protocol'
import type { Attributes, Owner } from './attributes.ts'
import type { Handle } from './directories/handle.ts'
import type { Member } from './member.ts'
import { type AcceptedMember, ArchiveRules, type RuleOptions } from './rules.ts'
import type { TimeSlice } from './time-slice.ts'
import { TreeBuilder } from './tree-builder.ts'

export interface UnpackedTree extends Unpacked {
  /** The attributes of the archive's root directory. */
  readonly root: Attributes | undefined
}

/** Maximum number of omitted members that are listed; all are counted. */
export const maxLeftOut = 1_000

/** Checks and creates members one after the other. */
export class Unpacking {
  readonly timeSlice: TimeSlice
  readonly #rules: ArchiveRules
  readonly #builder: TreeBuilder
  readonly #leftOut: LeftOut[] = []
  #leftOutCount = 0
  #root: Attributes | undefined
  #writing = false

  constructor(into: Handle, owner: Owner | undefined, rules: RuleOptions, timeSlice: TimeSlice) {
    this.timeSlice = timeSlice
    this.#builder = new TreeBuilder(into, owner)
    this.#rules = new ArchiveRules(rules, (left) => {
      this.#leftOutCount += 1
      if (this.#leftOut.length < maxLeftOut) this.#leftOut.push(left)
    })
  }

  begin(member: Member): void {
    const accepted = this.#rules.check(member)
    if (accepted !== undefined) this.#make(accepted, member)
  }

  /** Writes content of the current member. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    if (this.#writing) await this.#builder.write(bytes, at)
  }

  end(): void {
    if (this.#writing) this.#builder.endFile()
    this.#writing = false
  }

  async finish(): Promise<UnpackedTree> {
    for (const _ of this.#rules.finish()) if (this.timeSlice.expired) await this.timeSlice.yieldToEventLoop()
    for (const _ of this.#builder.finish())
      if (this.timeSlice.expired) await this.timeSlice.yieldToEventLoop()
    const { files, directories, links, bytes } = this.#builder
    const leftOut = this.#leftOut
    return { files, directories, links, bytes, leftOut, leftOutCount: this.#leftOutCount, root: this.#root }
  }

  close(): void {
    this.#builder.close()
  }

  #make({ kind, path, mode, target }: AcceptedMember, { size, mtime }: Member): void {
    switch (kind) {
      case 'directory':
        if (path === '') this.#root = { mode, mtime }
        else this.#builder.directory(path, { mode, mtime })
        return
      case 'file':
        this.#builder.beginFile(path, size, { mode, mtime })
        this.#writing = true
        return
      case 'symlink':
        this.#builder.symlink(path, target, mtime)
        return
      case 'hardlink':
        this.#builder.hardLink(path, target)
    }
  }
}
