import { type ChildProcess, spawn } from 'node:child_process'

export interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The last part of it. */
  readonly output: string
}

const longestOutput = 32 * 1024
const running = new Set<ChildProcess>()

/** Runs a shell command as our child; an abort kills it and all that it started in its group. */
export function runChild(
  command: string,
  cwd: string,
  signal: AbortSignal,
  onOutput: (soFar: string) => void,
): Promise<Ended> {
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
        output = (output + text).slice(-longestOutput)
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
    // What the command left running may hold its pipes open for ever.
    child.once('exit', (code, endSignal) => setTimeout(finish, 200, code, endSignal).unref())
  })
}

/** Starts a command that nobody waits for. */
export function leaveRunning(command: string, cwd: string): number | undefined {
  const child = spawn('/bin/sh', ['-c', command], { cwd, detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
  return child.pid
}

/** Kills what turns have started: for the process's end. */
export function killRunning(): void {
  for (const child of running) killGroup(child)
}

function killGroup(child: ChildProcess): void {
  running.delete(child)
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}
