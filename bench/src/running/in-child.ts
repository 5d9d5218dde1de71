import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endProcesses, processesBelow, runMarker } from './end-processes.ts'
import type { ChildResult } from './report-to-parent.ts'

export interface ChildWork {
  /** In the words of a reason, such as "agents endings". */
  readonly what: string
  /** A script that calls `tellParent`, and its arguments. */
  readonly script: URL
  readonly args: readonly string[]
  readonly limitMs: number
}

/** Where the folders of runs are; the id of this process follows. */
export const scratchPrefix = '/var/tmp/vitrine-bench-'

/** How long a child has to end its work after it was told to. */
const graceMs = 5_000
const execArgv = ['--conditions=source', '--disable-warning=ExperimentalWarning']

/**
 * Does work in a process of its own and ends it when its limit of time passes or the signal is aborted, with every
 * process and folder that it leaves. Rejects with a reason that names the work.
 */
export async function inChild(work: ChildWork, signal: AbortSignal): Promise<unknown> {
  const { what, script, args, limitMs } = work
  // Not below /tmp: a sandbox has a /tmp of its own. Others may pass through: sandboxes run as another user.
  const folder = mkdtempSync(`${scratchPrefix}${process.pid}-`)
  chmodSync(folder, 0o711)
  const run = randomUUID()
  const child = fork(fileURLToPath(script), args, {
    execArgv,
    env: { ...process.env, ...runMarker(run), TMPDIR: folder },
    // Its output is not the benchmark's: that is the table or the JSON.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  let result: ChildResult | undefined
  let stopped: string | undefined
  let killing: NodeJS.Timeout | undefined
  let below: ReturnType<typeof processesBelow> = []
  child.once('message', (message: ChildResult) => {
    result = message
  })
  const kill = () => {
    below = processesBelow(child.pid!)
    child.kill('SIGKILL')
  }
  const stop = (reason: string) => {
    stopped ??= reason
    if (child.connected) child.send(stopped)
    killing ??= setTimeout(kill, graceMs)
  }
  const interrupt = () => stop(`${what} was interrupted.`)
  const limit = setTimeout(() => stop(`${what} did not end within ${limitMs / 1_000} s.`), limitMs)
  signal.addEventListener('abort', interrupt, { once: true })
  if (signal.aborted) interrupt()
  try {
    const [code, killedBy] = await once(child, 'exit')
    result ??= { error: `its process ended with ${killedBy ?? code} and without a result.` }
  } finally {
    clearTimeout(limit)
    clearTimeout(killing)
    signal.removeEventListener('abort', interrupt)
    try {
      await endProcesses(run, below)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  if (stopped !== undefined) throw new Error(stopped)
  if ('error' in result) throw new Error(`${what} failed: ${result.error}`)
  return result.value
}
