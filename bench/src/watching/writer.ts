import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { LocalSandbox } from '@vitrine/sandbox'
import { now } from './clock.ts'

/** Writes to each path once, in order, and returns the time of each write. */
export type FileWriter = (root: string, paths: readonly string[], pauseMs: number) => Promise<number[]>

/** Writes in the watching process. */
export const byTheHost: FileWriter = async (root, paths, pauseMs) => {
  const times: number[] = []
  for (const path of paths) {
    writeFileSync(join(root, path), 'by the host\n')
    times.push(now())
    await sleep(pauseMs * (0.5 + Math.random()))
  }
  return times
}

/** Runs in the workspace and prints only at the end, since its output is recorded too. */
const script = `
const { writeFileSync } = require('node:fs')
const [pauseMs, ...paths] = process.argv.slice(1)
const times = []
const next = () => {
  const path = paths.shift()
  if (path === undefined) return console.log(JSON.stringify(times))
  writeFileSync(path, 'by a process\\n')
  times.push(Number(process.hrtime.bigint()) / 1e6)
  setTimeout(next, pauseMs * (0.5 + Math.random()))
}
setTimeout(next, 100)
`

/** Writes in a command of the sandbox, or in a separate process if there is no sandbox. */
export function byAProcess(sandbox: LocalSandbox | undefined): FileWriter {
  return async (root, paths, pauseMs) => {
    const args = ['-e', script, String(pauseMs), ...paths]
    const { stdout } =
      sandbox === undefined
        ? await promisify(execFile)(process.execPath, args, { cwd: root })
        : await sandbox.exec([process.execPath, ...args])
    return JSON.parse(stdout) as number[]
  }
}
