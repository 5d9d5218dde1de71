import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { randomHex, VitrineError } from '@vitrine/protocol'
import { errnoOf, Handle } from './handle.ts'
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
  #directory: Handle
  /** The workspace, where it is in there. */
  readonly #root: Handle | undefined
  #made = 0

  private constructor(directory: Handle, root?: Handle) {
    this.#directory = directory
    this.#root = root
  }

  get directory(): Handle {
    return this.#directory
  }

  static open(beside: string, root: string): Staging {
    const device = statSync(root).dev
    try {
      mkdirSync(beside, { recursive: true, mode: 0o700 })
      const directory = Handle.directory(beside)
      if (directory.stats.dev === device) return new Staging(directory)
      directory.close()
      rmdirSync(beside)
    } catch {
      // The workspace itself will do.
    }
    const workspace = Handle.directory(root)
    try {
      return new Staging(insideOf(workspace), workspace)
    } catch (error) {
      workspace.close()
      throw error
    }
  }

  draft(): Draft {
    const name = this.#name()
    const directory = this.#standing()
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
        if (published) return
        try {
          unlinkSync(directory.at(name))
        } catch {
          // Cleared already, with the sandbox.
        }
      },
    }
  }

  /** An empty directory, gone with what is in it when it is released. */
  folder(): { readonly handle: Handle; release(): Promise<void> } {
    const name = this.#name()
    const directory = this.#standing()
    mkdirSync(directory.at(name), 0o700)
    const handle = directory.entry(name)
    if (handle?.kind !== 'directory') {
      handle?.close()
      throw new VitrineError('file_busy', 'The staging was changed while it was used.')
    }
    return {
      handle,
      release: async () => {
        handle.close()
        await removeTree(directory, name)
      },
    }
  }

  /** Takes something out of the workspace at once. What it is now is to be removed, and the handle closed. */
  take(parent: Handle, name: string): { readonly parent: Handle; readonly name: string } {
    const mine = this.#name()
    const directory = this.#standing()
    renameSync(parent.at(name), directory.at(mine))
    return { parent: directory.duplicate(), name: mine }
  }

  /** What an earlier life left here. */
  async clear(): Promise<void> {
    for (const name of this.directory.names()) await removeTree(this.directory, name)
  }

  close(): void {
    this.directory.close()
    if (this.#root === undefined) return
    try {
      rmdirSync(this.#root.at(stagingInside))
    } catch {
      // It goes with the next clearing.
    }
    this.#root.close()
  }

  /** In the workspace anybody may have removed it. */
  #standing(): Handle {
    if (this.#root !== undefined && fstatSync(this.#directory.fd).nlink === 0) {
      this.#directory.close()
      this.#directory = insideOf(this.#root)
    }
    return this.#directory
  }

  #name(): string {
    this.#made += 1
    return `${this.#made}-${randomHex(6)}`
  }
}

/** One that was there already may be the sandbox's, and what is staged is no business of it. */
function closedToOthers(directory: Handle): Handle {
  const uid = process.geteuid?.()
  if (uid === 0 && directory.stats.uid !== uid) chownSync(directory.self, 0, 0)
  chmodSync(directory.self, 0o700)
  directory.restat()
  return directory
}

/** A directory in the workspace. What else has its name there, a link above all, is none of ours. */
function insideOf(workspace: Handle): Handle {
  for (let attempt = 1; ; attempt += 1) {
    try {
      mkdirSync(workspace.at(stagingInside), 0o700)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
    const found = workspace.entry(stagingInside)
    if (found?.kind === 'directory') return closedToOthers(found)
    found?.close()
    if (attempt === 10)
      throw new VitrineError('file_busy', `Something else is at ${stagingInside} in the workspace.`)
    if (found !== undefined) unlinkSync(workspace.at(stagingInside))
  }
}
