import type { LeftOut, Unpacked } from '@vitrine/protocol'
import type { Handle } from '../files/handle.ts'
import type { TimeSlice } from '../files/time-slice.ts'
import type { Attributes, Owner } from './attributes.ts'
import type { Member } from './member.ts'
import { ArchiveRules, type Judged, type RuleOptions } from './rules.ts'
import { TreeBuilder } from './tree-builder.ts'

export interface UnpackedTree extends Unpacked {
  /** Attributes that the archive has for its root directory. */
  readonly root: Attributes | undefined
}

/** As many as are named; all are counted. */
export const maxLeftOut = 1_000

/** Members are judged and made one after the other. */
export class Unpacking {
  readonly pace: TimeSlice
  readonly #rules: ArchiveRules
  readonly #stage: TreeBuilder
  readonly #leftOut: LeftOut[] = []
  #leftOutCount = 0
  #root: Attributes | undefined
  #writing = false

  constructor(into: Handle, owner: Owner | undefined, rules: RuleOptions, pace: TimeSlice) {
    this.pace = pace
    this.#stage = new TreeBuilder(into, owner)
    this.#rules = new ArchiveRules(rules, (left) => {
      this.#leftOutCount += 1
      if (this.#leftOut.length < maxLeftOut) this.#leftOut.push(left)
    })
  }

  begin(member: Member): void {
    const judged = this.#rules.judge(member)
    if (judged !== undefined) this.#make(judged, member)
  }

  /** Content of the member that was begun last. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    if (this.#writing) await this.#stage.write(bytes, at)
  }

  end(): void {
    if (this.#writing) this.#stage.endFile()
    this.#writing = false
  }

  async finish(): Promise<UnpackedTree> {
    for (const _ of this.#rules.finish()) if (this.pace.expired) await this.pace.yieldToEventLoop()
    for (const _ of this.#stage.finish()) if (this.pace.expired) await this.pace.yieldToEventLoop()
    const { files, directories, links, bytes } = this.#stage
    const leftOut = this.#leftOut
    return { files, directories, links, bytes, leftOut, leftOutCount: this.#leftOutCount, root: this.#root }
  }

  close(): void {
    this.#stage.close()
  }

  #make({ kind, path, mode, target }: Judged, { size, mtime }: Member): void {
    switch (kind) {
      case 'directory':
        if (path === '') this.#root = { mode, mtime }
        else this.#stage.directory(path, { mode, mtime })
        return
      case 'file':
        this.#stage.beginFile(path, size, { mode, mtime })
        this.#writing = true
        return
      case 'symlink':
        this.#stage.symlink(path, target, mtime)
        return
      case 'hardlink':
        this.#stage.hardLink(path, target)
    }
  }
}
