import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { randomHex } from '@vitrine/protocol'
import { Handle } from './handle.ts'
import { removeTree } from './remove-tree.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants

/** Where there is no room beside the workspace on its own file system. Watching, searching and packing pass it over. */
export const stagingInside = '.vitrine-staging'

/** A file that has no name in the workspace yet. */
export interface Draft {
  readonly fd: number
  /** Puts it at its place, over what is there. */
  publish(parent: Handle, name: string): void
  /** Closes it, and takes it away where it was not published. */
  drop(): void
}

/**
 * A directory on the workspace's file system that nobody watches: what is written there appears in the workspace by
 * one rename, whole.
 */
export class Staging {
  readonly directory: Handle
  readonly #path: string
  readonly #inside: boolean
  #made = 0

  private constructor(path: string, directory: Handle, inside: boolean) {
    this.#path = path
    this.directory = directory
    this.#inside = inside
  }

  static open(beside: string, root: string): Staging {
    const device = statSync(root).dev
    try {
      mkdirSync(beside, { recursive: true, mode: 0o700 })
      const directory = Handle.directory(beside)
      if (directory.stats.dev === device) return new Staging(beside, directory, false)
      directory.close()
      rmdirSync(beside)
    } catch {
      // The workspace itself will do.
    }
    const inside = join(root, stagingInside)
    mkdirSync(inside, { recursive: true, mode: 0o700 })
    return new Staging(inside, Handle.directory(inside), true)
  }

  draft(): Draft {
    const name = this.#name()
    const { directory } = this
    const fd = openSync(directory.at(name), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600)
    let published = false
    return {
      fd,
      publish: (parent, target) => {
        renameSync(directory.at(name), parent.at(target))
        published = true
      },
      drop: () => {
        closeSync(fd)
        if (!published) unlinkSync(directory.at(name))
      },
    }
  }

  /** An empty directory, gone with what is in it when it is released. */
  folder(): { readonly handle: Handle; release(): Promise<void> } {
    const name = this.#name()
    mkdirSync(this.directory.at(name), 0o700)
    const handle = Handle.directory(join(this.#path, name))
    return {
      handle,
      release: async () => {
        handle.close()
        await removeTree(this.directory, name)
      },
    }
  }

  /** Takes something out of the workspace at once. What it is now is to be removed, and the handle closed. */
  take(parent: Handle, name: string): { readonly parent: Handle; readonly name: string } {
    const mine = this.#name()
    renameSync(parent.at(name), this.directory.at(mine))
    return { parent: this.directory.again(), name: mine }
  }

  /** What an earlier life left here. */
  async clear(): Promise<void> {
    for (const name of this.directory.names()) await removeTree(this.directory, name)
  }

  close(): void {
    this.directory.close()
    if (!this.#inside) return
    try {
      rmdirSync(this.#path)
    } catch {
      // It goes with the next clearing.
    }
  }

  #name(): string {
    this.#made += 1
    return `${this.#made}-${randomHex(6)}`
  }
}
