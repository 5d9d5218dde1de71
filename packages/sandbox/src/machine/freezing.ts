import { Serial } from '@vitrine/protocol/primitives'
import type { Cgroup } from '../cgroups/cgroup.ts'
import { type ChooseProcesses, killInside, type ProcessRows } from './kill-inside.ts'
import { send } from './kill-tree.ts'

interface FreezableProcesses {
  /** The control group, if it can be frozen; otherwise signals stop the processes. */
  readonly group: Pick<Cgroup, 'freeze' | 'thaw'> | undefined
  /** The processes that a pause stops. */
  pids(): Promise<readonly number[]>
  /** The processes that commands have started. */
  commands(table: ProcessRows): Iterable<number>
}

/** Pauses a machine's processes and kills some of them, one at a time: what is paused stays paused until it is resumed. */
export class Freezing {
  readonly #processes: FreezableProcesses
  readonly #steps = new Serial()
  #state: 'running' | 'paused' | 'closed' = 'running'

  constructor(processes: FreezableProcesses) {
    this.#processes = processes
  }

  pause(): Promise<void> {
    return this.#steps.run(async () => {
      const { group } = this.#processes
      if (group === undefined) await this.#signalAll('SIGSTOP')
      else await group.freeze()
      if (this.#state === 'running') this.#state = 'paused'
    })
  }

  resume(): Promise<void> {
    return this.#steps.run(async () => {
      const { group } = this.#processes
      if (group === undefined) await this.#signalAll('SIGCONT')
      else await group.thaw()
      if (this.#state === 'paused') this.#state = 'running'
    })
  }

  /** Kills the chosen processes and resolves to their number. In a paused machine none is chosen. */
  killInside(choose: ChooseProcesses): Promise<number> {
    const { group } = this.#processes
    return this.#steps.run(() =>
      this.#state === 'running' ? killInside((table) => this.#processes.commands(table), group, choose) : 0,
    )
  }

  /** Lets all processes run, so that they can end. It does not wait: a kill in progress thaws what it froze. */
  async close(): Promise<void> {
    this.#state = 'closed'
    await this.#processes.group?.thaw().catch(() => undefined)
  }

  async #signalAll(signal: NodeJS.Signals): Promise<void> {
    for (const pid of await this.#processes.pids()) send(pid, signal)
  }
}
