import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endProcesses, processesBelow, runMarker } from './end-processes.ts'
import type { ChildResult } from './report-to-parent.ts'

export interface ChildWork {
  /** The name of the work in error messages, for example "agents endings". */
  readonly what: string
  /** A script that calls `reportToParent`, and its arguments. */
  readonly script: URL
  readonly args: readonly string[]
  readonly limitMs: number
}

/** The prefix of the folders of runs; the pid of this process follows. */
export const scratchPrefix = '/var/tmp/vitrine-bench-'

/** The time between the stop message to a child and its kill. */
const graceMs = 5_000
const execArgv = ['--conditions=source', '--disable-warning=ExperimentalWarning']

/**
 * Does work in a child process and stops it at its time limit or when the signal is aborted. Then kills every process and
 * removes every folder that it leaves. Rejects with a reason that names the work.
 */
export async function inChild(work: ChildWork, signal: AbortSignal): Promise<unknown> {
  const { what, script, args, limitMs } = work
  // Not below /tmp: a sandbox has its own /tmp. Other users may enter the folder: sandboxes run as another user.
  const folder = mkdtempSync(`${scratchPrefix}${process.pid}-`)
  chmodSync(folder, 0o711)
  const run = randomUUID()
  const child = fork(fileURLToPath(script), args, {
    execArgv,
    env: { ...process.env, ...runMarker(run), TMPDIR: folder },
    // The child's output goes to stderr: stdout is for the table or the JSON.
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
    result ??= { error: `its process exited with ${killedBy ?? code} and without a result.` }
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
