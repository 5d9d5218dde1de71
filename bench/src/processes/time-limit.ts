import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { settledWithin } from '@vitrine/protocol/primitives'
import { measurement } from '../measurement.ts'
import { missingRow, openPeer, peerNames } from '../peers/peers.ts'
import type { Row } from '../report.ts'
import { alive, kill, newMark, treeCommand } from './alive.ts'
import { withSandbox } from './sandbox.ts'

const limitMs = 300
const barMs = 500
/** The longest wait for a call to return. */
const maxWaitMs = 5_000

interface Sizes {
  /** The delay between the return and the check for remaining processes. */
  readonly afterMs: number
}

/** A command with a time limit and children that outlive their parent, one of them in a session of its own. */
export const timeLimit = measurement<Sizes>({
  name: 'timeLimit',
  what: 'exec with a time limit on a tree of which one process leaves the session: when it returns, what is left',
  against: 'raw spawn with `timeout`; TanStack local-process; OpenAI unix-local',
  bars: [`≤ ${barMs} ms, 0 alive`],
  needs: ['peers'],
  sizes: { full: { afterMs: 3_000 }, tiny: { afterMs: 500 } },
  run,
})

async function run({ afterMs }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const measured = (exec: (command: string) => Promise<unknown>) => runLimited(exec, afterMs, signal)
  const rows: Row[] = []
  for (const isolation of ['none', 'bubblewrap'] as const) {
    await withSandbox({ isolation }, signal, async (sandbox) => {
      const seen = await measured((command) => sandbox.exec(command, { timeoutMs: limitMs }))
      const holds = seen.returnedMs !== undefined && seen.returnedMs <= barMs && seen.left === 0
      rows.push({ ...rowOf(`isolation ${isolation}`, seen), bar: `≤ ${barMs} ms, 0 alive`, holds })
    })
  }
  rows.push(rowOf('raw spawn with `timeout`', await measured(rawWithTimeout)))
  for (const name of peerNames) {
    await withSandbox({ isolation: 'none' }, signal, async (_, folder) => {
      const peer = await openPeer(name, folder)
      if ('missing' in peer) {
        rows.push(missingRow(`the same, ${name}`, peer.missing))
        return
      }
      const seen = await measured((command) => peer.execWithTimeout(command, limitMs))
      rows.push({ ...rowOf(peer.name, seen), against: peer.without })
      await peer.close()
    })
  }
  return rows
}

interface LimitedRun {
  readonly returnedMs: number | undefined
  readonly left: number
  readonly afterMs: number
}

async function runLimited(
  exec: (command: string) => Promise<unknown>,
  afterMs: number,
  signal: AbortSignal,
): Promise<LimitedRun> {
  const mark = newMark()
  let left: number[] = []
  const began = performance.now()
  const returned = exec(treeCommand(mark)).then(
    () => performance.now() - began,
    () => performance.now() - began,
  )
  const returnedMs = (await settledWithin(returned, maxWaitMs)) ? await returned : undefined
  try {
    await sleep(afterMs, undefined, { signal })
  } finally {
    left = alive(mark)
    kill(left)
  }
  await returned
  return { returnedMs, left: left.length, afterMs }
}

function rowOf(who: string, { returnedMs, left, afterMs }: LimitedRun): Row {
  const returned =
    returnedMs === undefined ? `not after ${maxWaitMs} ms` : `after ${returnedMs.toFixed(0)} ms`
  return {
    what: `timeoutMs ${limitMs} on \`sleep & setsid sleep & wait\`: ${who}`,
    measured: `returned ${returned}; ${left} alive ${afterMs / 1_000} s later`,
    against: '',
    bar: '',
    holds: null,
  }
}

function rawWithTimeout(command: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { timeout: limitMs })
    child.once('error', reject)
    child.once('close', resolve)
  })
}
