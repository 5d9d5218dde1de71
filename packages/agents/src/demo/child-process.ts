import { type ChildProcess, spawn } from 'node:child_process'

export interface CommandExit {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The end of stdout and stderr. */
  readonly output: string
}

const maxOutputChars = 32 * 1024
const running = new Set<ChildProcess>()

/** Runs a shell command as a child process; an abort kills its process group. */
export function runChild(
  command: string,
  cwd: string,
  signal: AbortSignal,
  onOutput: (soFar: string) => void,
): Promise<CommandExit> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const child = spawn('/bin/sh', ['-c', command], {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    let output = ''
    for (const pipe of [child.stdout, child.stderr]) {
      pipe.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-maxOutputChars)
        onOutput(output)
      })
    }
    const stop = () => {
      killGroup(child)
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    const finish = (exitCode: number | null, endSignal: string | null) => {
      running.delete(child)
      signal.removeEventListener('abort', stop)
      resolve({ exitCode, signal: endSignal, output })
    }
    child.once('error', (error) => {
      running.delete(child)
      signal.removeEventListener('abort', stop)
      reject(error)
    })
    child.once('close', finish)
    // Background processes of the command may keep its pipes open forever.
    child.once('exit', (code, endSignal) => setTimeout(finish, 200, code, endSignal).unref())
  })
}

/** Starts a detached command and does not wait for it. */
export function startDetached(command: string, cwd: string): number | undefined {
  const child = spawn('/bin/sh', ['-c', command], { cwd, detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
  return child.pid
}

/** Kills the commands of all turns, when the agent exits. */
export function killRunning(): void {
  for (const child of running) killGroup(child)
}

function killGroup(child: ChildProcess): void {
  running.delete(child)
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process group no longer exists.
  }
}
