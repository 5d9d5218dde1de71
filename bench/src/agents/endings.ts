import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostSandbox } from '@vitrine/host'
import { dataDirectory } from '../../../packages/sandbox/src/data-directory.ts'
import { markedBy, ownerTagOf } from '../../../packages/sandbox/src/machine/orphans.ts'
import { readProcessTable } from '../../../packages/sandbox/src/machine/process-table.ts'
import { measurement } from '../measurement.ts'
import { median, type Row } from '../report.ts'
import { withHost } from './fixture.ts'

const bar = { rejectedMs: 300, goneMs: 3_000 }
/** The agent, and the shell and two commands that leave its session. */
const treeSize = 4

interface Sizes {
  readonly rounds: number
}

/** The processes that a killed agent and a closed session leave, and for how long. */
export const endings = measurement<Sizes>({
  name: 'endings',
  what: 'kill -9 of an agent in a turn, and close of its session: when its processes are gone',
  bars: [`≤ ${bar.rejectedMs} ms`, `≤ ${bar.goneMs} ms`],
  sizes: { full: { rounds: 10 }, tiny: { rounds: 1 } },
  run,
})

async function run({ rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rejected: number[] = []
  const cleared: number[] = []
  const closed: number[] = []
  await withHost(signal, async (sandbox, data) => {
    const mark = ownerTagOf(sandbox.id, dataDirectory(data))
    const untilGone = () => until(() => processesOf(mark).length === 0, signal)
    for (let round = 0; round < rounds; round += 1) {
      const { session, pid, turn } = await hanging(sandbox, mark, signal)
      const began = performance.now()
      process.kill(pid, 'SIGKILL')
      await turn
      rejected.push(performance.now() - began)
      await untilGone()
      cleared.push(performance.now() - began)
      await session.close()
    }
    for (let round = 0; round < rounds; round += 1) {
      const { session } = await hanging(sandbox, mark, signal)
      const began = performance.now()
      await Promise.all([session.close(), untilGone()])
      closed.push(performance.now() - began)
    }
  })
  return [
    row('agent killed in a turn → prompt rejected', rejected, bar.rejectedMs),
    row('agent killed in a turn → its tree gone, setsid escapees too', cleared, bar.goneMs),
    row('close of a session in a turn → its tree gone', closed, bar.goneMs),
  ]
}

/** A session in a turn that does not end, whose agent has grandchildren in another process session. */
async function hanging(sandbox: HostSandbox, mark: string, signal: AbortSignal) {
  const session = await sandbox.openSession({ agent: 'trivial' })
  const turn = session.prompt('hang').catch(() => undefined)
  await until(() => processesOf(mark).length >= treeSize, signal)
  const agent = (await sandbox.processes.list()).find(({ state }) => state === 'running')
  if (agent?.pid === undefined) throw new Error('The sandbox lists no running process of the agent.')
  return { session, turn, pid: agent.pid }
}

async function until(holds: () => boolean, signal: AbortSignal): Promise<void> {
  while (!holds()) await sleep(5, undefined, { signal })
}

/** The agent and its descendants, without the sandbox's supervisor, which keeps running and has cleared its arguments. */
function processesOf(mark: string): number[] {
  return markedBy(mark, readProcessTable().keys()).filter((pid) => {
    const command = commandOf(pid)
    return command !== '' && !command.includes('vitrine-machine')
  })
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

function row(what: string, took: readonly number[], max: number): Row {
  const worst = Math.max(...took)
  return {
    what,
    measured: `p50 ${median(took).toFixed(0)} ms, worst of ${took.length} ${worst.toFixed(0)} ms`,
    against: '',
    bar: `≤ ${max} ms`,
    holds: worst <= max,
  }
}
