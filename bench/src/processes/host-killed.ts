import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { measurement } from '../measurement.ts'
import { peersFolder } from '../peers/install.ts'
import { missingRow } from '../peers/peers.ts'
import type { Row } from '../report.ts'
import { scratchFolder } from '../scratch.ts'
import { alive, kill, newMark } from './alive.ts'

const startMs = 30_000

interface Sizes {
  readonly trees: number
  /** The delay between the kill and the check for remaining processes. */
  readonly afterMs: number
}

/** Kills a host with SIGKILL, as the OOM killer would, and counts the processes that remain. */
export const hostKilled = measurement<Sizes>({
  name: 'hostKilled',
  what: 'kill -9 of a host that runs 20 trees of 3 processes: what is left after 3 s',
  against: 'raw spawn, detached; TanStack local-process; OpenAI unix-local',
  bars: ['0 alive'],
  needs: ['peers'],
  sizes: { full: { trees: 20, afterMs: 3_000 }, tiny: { trees: 2, afterMs: 1_000 } },
  run,
})

async function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rowOf = (who: string, title: string) => rowAfterKill(who, title, sizes, signal)
  const rows: Row[] = []
  for (const isolation of ['none', 'bubblewrap']) {
    const row = await rowOf(isolation, `isolation ${isolation}`)
    rows.push({ ...row, bar: '0 alive', holds: row.measured.startsWith('0 ') })
  }
  rows.push(await rowOf('raw', 'raw spawn, detached'))
  const missing = await peersFolder().then(
    () => undefined,
    (error: unknown) => `peer not available: ${String(error)}`,
  )
  for (const peer of ['tanstack', 'openai'])
    rows.push(missing === undefined ? await rowOf(peer, peer) : missingRow(`host killed: ${peer}`, missing))
  return rows
}

async function rowAfterKill(
  who: string,
  title: string,
  { trees, afterMs }: Sizes,
  signal: AbortSignal,
): Promise<Row> {
  const what = `host killed with -9 over ${trees} trees of 3: ${title}`
  const { left, reason } = await killed(who, { trees, afterMs }, signal)
  const measured = reason ?? `${left} alive after ${afterMs / 1_000} s`
  return { what, measured, against: '', bar: '', holds: reason === undefined ? null : false }
}

async function killed(
  who: string,
  { trees, afterMs }: Sizes,
  signal: AbortSignal,
): Promise<{ left: number; reason?: string }> {
  const processes = trees * 3
  const folder = scratchFolder()
  const mark = newMark()
  const script = fileURLToPath(new URL('./host.ts', import.meta.url))
  const host = fork(script, [who, mark, folder, String(trees)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const gone = once(host, 'exit')
  try {
    let stderr = ''
    host.stderr?.on('data', (text: Buffer) => (stderr += text.toString()))
    const until = performance.now() + startMs
    let ready = false
    host.once('message', () => {
      ready = true
    })
    // The supervisor of a tree may have the mark in its arguments too, so there can be more.
    while (!ready || alive(mark).length < processes) {
      if (host.exitCode !== null || performance.now() > until)
        return {
          left: 0,
          reason: `only ${alive(mark).length} of ${processes} started ${stderr.slice(0, 200)}`,
        }
      await sleep(20, undefined, { signal })
    }
    host.kill('SIGKILL')
    await gone
    await sleep(afterMs, undefined, { signal })
    return { left: alive(mark).length }
  } finally {
    host.kill('SIGKILL')
    kill(alive(mark))
    await gone
    rmSync(folder, { recursive: true, force: true })
  }
}
