import { type ChildProcess, spawn } from 'node:child_process'
import { randomHex } from '@vitrine/protocol'
import { machineProgram } from './native.ts'

const variable = 'VITRINE_HOST'
const value = randomHex(12)

/** Every process of this host carries it, so that the guard finds them when the host is gone. */
export const hostMarker: Readonly<Record<string, string>> = { [variable]: value }

let guard: ChildProcess | undefined
let sandboxes = 0

/** What one sandbox asks of the guard. */
export interface Guarding {
  /** Whether there is a guard on this platform. */
  readonly present: boolean
  watch(group: string): void
  forget(group: string): void
  end(): void
}

/** One guard for all sandboxes of this process: it ends what they run when this process dies, however it dies. */
export function guardSandbox(): Guarding {
  const program = machineProgram()
  if (program === undefined) return { present: false, watch: ignore, forget: ignore, end: ignore }
  sandboxes += 1
  const running = guard ?? start(program)
  guard = running
  let ended = false
  return {
    present: true,
    watch: (group) => void running.stdin?.write(`+${group}\n`),
    forget: (group) => void running.stdin?.write(`-${group}\n`),
    end: () => {
      if (ended) return
      ended = true
      sandboxes -= 1
      if (sandboxes > 0) return
      guard = undefined
      running.stdin?.end('.\n')
    },
  }
}

function start(program: string): ChildProcess {
  const child = spawn(program, ['guard', `${variable}=${value}`], {
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', ignore)
  child.stdin?.on('error', ignore)
  // It waits for this process; this process must not wait for it.
  child.unref()
  const { stdin } = child
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
  child.once('exit', () => {
    if (guard === child) guard = undefined
  })
  return child
}

function ignore(): void {}
