import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { missingRow, openPeer, peerNames } from '../peers/peers.ts'
import type { Row } from '../report.ts'
import { alive, end, newMark, treeCommand } from './alive.ts'
import { withSandbox } from './sandbox.ts'

const limitMs = 300
const barMs = 500
/** Who has not returned by then is not waited for. */
const patienceMs = 5_000
const afterMs = 3_000

/** A command with a time limit and children that outlive their parent, one of them in a session of its own. */
export async function timeLimit(): Promise<Row[]> {
  const rows: Row[] = []
  for (const isolation of ['none', 'bubblewrap'] as const) {
    await withSandbox({ isolation }, async (sandbox) => {
      const seen = await measured((command) => sandbox.exec(command, { timeoutMs: limitMs }))
      const holds = seen.returnedMs !== undefined && seen.returnedMs <= barMs && seen.left === 0
      rows.push({ ...rowOf(`isolation ${isolation}`, seen), bar: `≤ ${barMs} ms, 0 alive`, holds })
    })
  }
  rows.push(rowOf('raw spawn with `timeout`', await measured(rawWithin)))
  for (const name of peerNames) {
    await withSandbox({ isolation: 'none' }, async (_, folder) => {
      const peer = await openPeer(name, folder)
      if ('missing' in peer) {
        rows.push(missingRow(`the same, ${name}`, peer.missing))
        return
      }
      const seen = await measured((command) => peer.execWithin(command, limitMs))
      rows.push({ ...rowOf(peer.name, seen), against: peer.without })
      await peer.close()
    })
  }
  return rows
}

interface Seen {
  readonly returnedMs: number | undefined
  readonly left: number
}

async function measured(run: (command: string) => Promise<unknown>): Promise<Seen> {
  const mark = newMark()
  const began = performance.now()
  const returned = run(treeCommand(mark)).then(
    () => performance.now() - began,
    () => performance.now() - began,
  )
  const returnedMs = await Promise.race([returned, sleep(patienceMs, undefined, { ref: false })])
  await sleep(afterMs)
  const left = alive(mark)
  end(left)
  await returned
  return { returnedMs, left: left.length }
}

function rowOf(who: string, { returnedMs, left }: Seen): Row {
  const returned =
    returnedMs === undefined ? `not after ${patienceMs} ms` : `after ${returnedMs.toFixed(0)} ms`
  return {
    what: `timeoutMs ${limitMs} on \`sleep & setsid sleep & wait\`: ${who}`,
    measured: `returned ${returned}; ${left} alive ${afterMs / 1_000} s later`,
    against: '',
    bar: '',
    holds: null,
  }
}

function rawWithin(command: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { timeout: limitMs })
    child.once('error', reject)
    child.once('close', resolve)
  })
}
