import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { VitrineError } from '@vitrine/protocol'
import { launchError } from './launch-errors.ts'
import type { Launch, WaitStatus } from './machine.ts'

/** A file to execute, with its arguments, environment and ids. */
export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly ids?: { readonly uid: number; readonly gid: number } | undefined
}

interface StartedPipes {
  readonly pid: number
  readonly pipes: { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable }
  readonly ended: Promise<WaitStatus>
}

/** Starts a program with three pipes in a new session, for platforms without `vitrine-machine`. */
export async function startWithPipes(program: Program, launch: Launch): Promise<StartedPipes> {
  const { file, args, cwd, env, ids } = program
  const child = spawnOrThrow(launch, file, args, {
    ...(cwd !== undefined && { cwd }),
    ...ids,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const { pid, ended } = await started(child, launch)
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr)
    throw new VitrineError('internal', 'A process was started without its pipes.')
  // A program may exit before it has read its input, which is not an error.
  stdin.on('error', () => undefined)
  if (!launch.input) stdin.end()
  return { pid, ended, pipes: { stdin, stdout, stderr } }
}

/** Node throws some of the kernel's errors from `spawn` and emits others; this converts the thrown ones. */
export function spawnOrThrow(
  launch: Launch,
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  try {
    return spawn(file, args, options)
  } catch (error) {
    throw error instanceof Error ? launchError('exec', errorNumber(error), error.message, launch) : error
  }
}

/** Resolves with the process id, or rejects with the reason why the process did not start. */
export function started(
  child: ChildProcess,
  launch: Launch,
): Promise<{ pid: number; ended: Promise<WaitStatus> }> {
  const ended = new Promise<WaitStatus>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(launchError('exec', errorNumber(error), error.message, launch))
    })
    if (child.pid !== undefined) resolve({ pid: child.pid, ended })
  })
}

/** Converts Node's error name to the kernel's error number, which launch errors are made from. */
function errorNumber({ code, errno }: NodeJS.ErrnoException): number {
  const known = new Map<string, number>(Object.entries(constants.errno))
  return known.get(code ?? '') ?? Math.abs(errno ?? 0)
}
