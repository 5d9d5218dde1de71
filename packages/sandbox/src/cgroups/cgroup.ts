import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toVitrineError, VitrineError } from '@vitrine/protocol'
import { isWholeNumber, systemErrorCode } from '@vitrine/protocol/primitives'
import { errorText } from './file-errors.ts'
import { removeFolder, unmakeFolder } from './folders.ts'
import { freezeGroup, thawGroup } from './freeze.ts'
import { type Group, groupPids } from './group.ts'
import { killGroup } from './kill.ts'
import { LimitCounters, type LimitHits } from './limit-hits.ts'
import { checkName } from './name.ts'
import { type CgroupUsage, readUsage } from './usage.ts'

/** The folders of one control group, one in each hierarchy that it needs. */
export interface CgroupFolders {
  /** The group in which processes are listed, frozen and killed. */
  readonly tracked: Group
  /** The groups of other hierarchies that limit them. */
  readonly limiting: readonly Group[]
  /** For a child group: the groups that limit its parent. */
  readonly ofParent?: readonly Group[]
}

/** The control group of a sandbox or a command, made of one group in each hierarchy that it needs. */
export class Cgroup {
  readonly name: string
  /** The `cgroup.procs` files that a process writes to before it executes its program, to join the group. */
  readonly paths: readonly string[]
  readonly #own: readonly Group[]
  readonly #tracked: Group
  readonly #limits: readonly Group[]
  readonly #removeFolder: (folder: string) => Promise<void>

  constructor(name: string, { tracked, limiting, ofParent }: CgroupFolders) {
    this.name = name
    this.#tracked = tracked
    this.#own = [tracked, ...limiting]
    this.#limits = [...limiting, ...(ofParent ?? [])]
    this.#removeFolder = ofParent === undefined ? unmakeFolder : removeFolder
    // The tracking group first: a process that forks between two writes can still be found and killed.
    this.paths = [tracked, ...this.#limits].map(({ folder }) => join(folder, 'cgroup.procs'))
  }

  /** Adds a process to the group; a process that has ended already is not an error. */
  join(pid: number): void {
    // The kernel takes 0 for the writing process, which is the host.
    if (!isWholeNumber(pid, 1))
      throw new VitrineError('argument_invalid', `pid: expected the id of a process, got ${pid}.`)
    try {
      for (const path of this.paths) writeFileSync(path, String(pid))
    } catch (error) {
      if (systemErrorCode(error) !== 'ESRCH') throw failed(`Process ${pid} cannot join ${this.name}`, error)
    }
  }

  /** Creates a child group under the same limits that can be frozen and killed separately. */
  child(name: string): Cgroup {
    checkName(name)
    const folder = join(this.#tracked.folder, name)
    try {
      mkdirSync(folder)
    } catch (error) {
      throw failed(`The group ${name} cannot be created in ${this.name}`, error)
    }
    const tracked = { ...this.#tracked, folder }
    return new Cgroup(name, { tracked, limiting: [], ofParent: this.#limits })
  }

  /** The pids of this group and all groups below it. */
  pids(): Promise<number[]> {
    return withVitrineErrors(groupPids(this.#tracked))
  }

  /** Resolves when every process is frozen. */
  freeze(): Promise<void> {
    return withVitrineErrors(freezeGroup(this.#tracked))
  }

  thaw(): Promise<void> {
    return withVitrineErrors(thawGroup(this.#tracked))
  }

  /** Resolves when no process is left. The group stays, thawed. */
  async kill(): Promise<void> {
    for (const group of this.#own) await withVitrineErrors(killGroup(group))
  }

  /** The usage of this group; of a child group only the CPU time is accounted. */
  usage(): Promise<CgroupUsage> {
    return readUsage(this.#own)
  }

  /** The counters of the limits of this group; the caller closes them. */
  counters(limits: readonly (keyof LimitHits)[]): LimitCounters {
    return new LimitCounters(this.#own, limits)
  }

  /** Kills the remaining processes and removes the group. Removing it twice is not an error. */
  async remove(): Promise<void> {
    await this.kill()
    for (const { folder } of this.#own) await withVitrineErrors(this.#removeFolder(folder))
  }
}

async function withVitrineErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toVitrineError(error)
  }
}

function failed(what: string, cause: unknown): VitrineError {
  return new VitrineError('internal', `${what}: ${errorText(cause)}.`, { cause })
}
