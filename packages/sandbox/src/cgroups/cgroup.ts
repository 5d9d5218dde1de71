import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toVitrineError, VitrineError } from '@vitrine/protocol'
import { errorCode, errorText } from './file-errors.ts'
import { removeFolder, unmakeFolder } from './folders.ts'
import { freezeGroup, thawGroup } from './freeze.ts'
import { type Group, groupPids } from './group.ts'
import { killGroup } from './kill.ts'
import { checkName } from './name.ts'
import { type CgroupUsage, readUsage } from './usage.ts'

/** The folders of one group of processes, one in each hierarchy that is needed for it. */
export interface CgroupFolders {
  /** Where its processes are listed, frozen and killed. */
  readonly tracked: Group
  /** Where they are limited, if not there. */
  readonly limiting: readonly Group[]
  /** For a group within another: where that one is limited. */
  readonly ofParent?: readonly Group[]
}

/** The processes that belong together, in one group of each hierarchy that is needed for them. */
export class Cgroup {
  readonly name: string
  /** The `cgroup.procs` files that a process must write itself into to be in it from its beginning. */
  readonly paths: readonly string[]
  readonly #own: readonly Group[]
  readonly #tracked: Group
  readonly #limits: readonly Group[]
  readonly #removal: (folder: string) => Promise<void>

  constructor(name: string, { tracked, limiting, ofParent }: CgroupFolders) {
    this.name = name
    this.#tracked = tracked
    this.#own = [tracked, ...limiting]
    this.#limits = [...limiting, ...(ofParent ?? [])]
    this.#removal = ofParent === undefined ? unmakeFolder : removeFolder
    // The tracked one first: what forks between two writes can then still be found and killed.
    this.paths = [tracked, ...this.#limits].map(({ folder }) => join(folder, 'cgroup.procs'))
  }

  /** Takes a process in; that it has ended already is no error. */
  join(pid: number): void {
    // The kernel would take 0 as the writer: the host itself.
    if (!Number.isSafeInteger(pid) || pid < 1)
      throw new VitrineError('argument_invalid', `pid: expected the id of a process, got ${pid}.`)
    try {
      for (const path of this.paths) writeFileSync(path, String(pid))
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw failed(`Process ${pid} cannot join ${this.name}`, error)
    }
  }

  /** A group within this one, under the same limits, to be frozen and killed by itself. */
  child(name: string): Cgroup {
    checkName(name)
    const folder = join(this.#tracked.folder, name)
    try {
      mkdirSync(folder)
    } catch (error) {
      throw failed(`The group ${name} cannot be made in ${this.name}`, error)
    }
    const tracked = { ...this.#tracked, folder }
    return new Cgroup(name, { tracked, limiting: [], ofParent: this.#limits })
  }

  /** Of this group and of all below it. */
  pids(): Promise<number[]> {
    return coded(groupPids(this.#tracked))
  }

  /** Resolves when every process stands still. */
  freeze(): Promise<void> {
    return coded(freezeGroup(this.#tracked))
  }

  thaw(): Promise<void> {
    return coded(thawGroup(this.#tracked))
  }

  /** Resolves when no process is left. The group stays, thawed. */
  async kill(): Promise<void> {
    for (const group of this.#own) await coded(killGroup(group))
  }

  /** Of this group; a group within another has no account of its own but for time. */
  usage(): Promise<CgroupUsage> {
    return readUsage(this.#own)
  }

  /** Kills what is left in it. Removing it twice is no error. */
  async remove(): Promise<void> {
    await this.kill()
    for (const { folder } of this.#own) await coded(this.#removal(folder))
  }
}

async function coded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toVitrineError(error)
  }
}

function failed(what: string, cause: unknown): VitrineError {
  return new VitrineError('internal', `${what}: ${errorText(cause)}.`, { cause })
}
