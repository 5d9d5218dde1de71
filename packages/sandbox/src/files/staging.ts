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
import { Handle, removeTree } from '@vitrine/archives'
import { randomHex, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants

/**
 * The staging folder inside the workspace, for when the one beside it is on another file system. Watching, searching and
 * packing skip it.
 */
export const stagingInside = '.vitrine-staging'

/** A file in the staging folder that is not in the workspace yet. */
export interface StagedFile {
  readonly fd: number
  /** Renames it into the workspace, replacing an existing file. */
  publish(parent: Handle, name: string): void
  /** Closes it, and deletes it if it was not published. */
  drop(): void
}

/**
 * A directory on the workspace's file system that is not watched. Files are written there completely and then published
 * in the workspace by one rename.
 */
export class Staging {
  #directory: Handle
  /** The workspace, if the staging folder is inside it. */
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
      // Fall back to a folder inside the workspace.
    }
    const workspace = Handle.directory(root)
    try {
      return new Staging(openInside(workspace), workspace)
    } catch (error) {
      workspace.close()
      throw error
    }
  }

  draft(): StagedFile {
    const name = this.#name()
    const directory = this.#existingDirectory()
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
          // Already removed together with the sandbox.
        }
      },
    }
  }

  /** Creates an empty directory. `release()` removes it with its content. */
  folder(): { readonly handle: Handle; release(): Promise<void> } {
    const name = this.#name()
    const directory = this.#existingDirectory()
    mkdirSync(directory.at(name), 0o700)
    const handle = directory.entry(name)
    if (handle?.kind !== 'directory') {
      handle?.close()
      throw new VitrineError(
        'file_busy',
        'Another process changed the staging directory while it was in use.',
      )
    }
    return {
      handle,
      release: async () => {
        handle.close()
        await removeTree(directory, name)
      },
    }
  }

  /**
   * Moves an entry out of the workspace by one rename. The caller removes the entry under its new name and closes the
   * handle.
   */
  take(parent: Handle, name: string): { readonly parent: Handle; readonly name: string } {
    const mine = this.#name()
    const directory = this.#existingDirectory()
    renameSync(parent.at(name), directory.at(mine))
    return { parent: directory.duplicate(), name: mine }
  }

  /** Removes the files that an earlier, crashed host left here. */
  async clear(): Promise<void> {
    for (const name of this.directory.names()) await removeTree(this.directory, name)
  }

  close(): void {
    this.directory.close()
    if (this.#root === undefined) return
    try {
      rmdirSync(this.#root.at(stagingInside))
    } catch {
      // Not empty: the next `clear()` removes it.
    }
    this.#root.close()
  }

  /** Recreates the folder if it is inside the workspace and a process there has removed it. */
  #existingDirectory(): Handle {
    if (this.#root !== undefined && fstatSync(this.#directory.fd).nlink === 0) {
      this.#directory.close()
      this.#directory = openInside(this.#root)
    }
    return this.#directory
  }

  #name(): string {
    this.#made += 1
    return `${this.#made}-${randomHex(6)}`
  }
}

/** Takes ownership of the folder: the sandbox may have created it, and must not have access to staged files. */
function makePrivate(directory: Handle): Handle {
  const uid = process.geteuid?.()
  if (uid === 0 && directory.stats.uid !== uid) chownSync(directory.self, 0, 0)
  chmodSync(directory.self, 0o700)
  directory.restat()
  return directory
}

/** Opens or creates the staging folder in the workspace. Anything else of that name, such as a link, is removed. */
function openInside(workspace: Handle): Handle {
  for (let attempt = 1; ; attempt += 1) {
    try {
      mkdirSync(workspace.at(stagingInside), 0o700)
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error
    }
    const found = workspace.entry(stagingInside)
    if (found?.kind === 'directory') return makePrivate(found)
    found?.close()
    if (attempt === 10)
      throw new VitrineError('file_busy', `${stagingInside} in the workspace is not a directory.`)
    if (found !== undefined) unlinkSync(workspace.at(stagingInside))
  }
}
