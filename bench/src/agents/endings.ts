import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostSandbox } from '@vitrine/host'
import { median, type Row } from '../report.ts'
import { inHost } from './scene.ts'

const rounds = 10
const longestMs = 20_000

/** What a killed agent and a closed session leave, and how long they leave it. */
export async function endings(): Promise<Row[]> {
  const rejected: number[] = []
  const cleared: number[] = []
  const closed: number[] = []
  await inHost(async (sandbox) => {
    for (let round = 0; round < rounds; round += 1) {
      const { session, pid, turn } = await hanging(sandbox)
      const began = performance.now()
      process.kill(pid, 'SIGKILL')
      await turn
      rejected.push(performance.now() - began)
      await untilGone(sandbox.id)
      cleared.push(performance.now() - began)
      await session.close()
    }
    for (let round = 0; round < rounds; round += 1) {
      const { session } = await hanging(sandbox)
      const began = performance.now()
      await Promise.all([session.close(), untilGone(sandbox.id)])
      closed.push(performance.now() - began)
    }
  })
  return [
    row('agent killed in a turn → prompt rejected', rejected, 300),
    row('agent killed in a turn → its tree gone, setsid escapees too', cleared, 3_000),
    row('close of a session in a turn → its tree gone', closed, 3_000),
  ]
}

/** A session whose agent is in a turn that does not end, with grandchildren that have escaped it. */
async function hanging(sandbox: HostSandbox) {
  const session = await sandbox.openSession({ agent: 'trivial' })
  const turn = session.prompt('hang').catch(() => undefined)
  while (marked(sandbox.id).length < 4) await sleep(10)
  const agent = (await sandbox.processes.list()).find(({ state }) => state === 'running')
  return { session, turn, pid: agent?.pid ?? 0 }
}

async function untilGone(sandbox: string): Promise<void> {
  const until = performance.now() + longestMs
  while (marked(sandbox).length > 0 && performance.now() < until) await sleep(5)
}

/** The agent and what it started; what starts them for the sandbox stays, and has wiped its arguments. */
function marked(sandbox: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const ours = readFileSync(`/proc/${name}/environ`, 'latin1').includes(`VITRINE_SANDBOX=${sandbox}\0`)
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', '')
      return ours && command !== '' && !command.includes('vitrine-machine') ? [Number(name)] : []
    } catch {
      return []
    }
  })
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
