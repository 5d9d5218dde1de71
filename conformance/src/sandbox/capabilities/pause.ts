import { setTimeout as sleep } from 'node:timers/promises'
import type { Capabilities } from '@vitrine/protocol'
import type { TestedSandbox } from '../kit.ts'

const pauseMs = 700

/** Measures with a process that logs the time: a gap proves the pause, and a SIGCONT shows that signals were used. */
export async function measurePause(sandbox: TestedSandbox): Promise<Capabilities['pause']> {
  const process = await sandbox.spawn(
    `trap 'echo continued >> ticks' CONT; while :; do date +%s%N >> ticks; sleep 0.02; done`,
  )
  try {
    await sandbox.exec('while [ ! -s ticks ]; do sleep 0.02; done')
    await sandbox.lifecycle.pause()
    await sleep(pauseMs)
    await sandbox.lifecycle.resume()
    await sleep(100)
    const lines = (await sandbox.exec('cat ticks; rm -f ticks')).stdout.trim().split('\n')
    const times = lines.filter((line) => line !== 'continued').map((line) => Number(line) / 1e6)
    const longest = Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)))
    if (longest < pauseMs * 0.9) return 'none'
    return lines.includes('continued') ? 'signals' : 'freezer'
  } catch {
    return 'none'
  } finally {
    await process.kill()
  }
}
