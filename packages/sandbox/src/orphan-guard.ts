import { type ChildProcess, spawn } from 'node:child_process'
import { randomHex } from '@vitrine/protocol'
import { inBackground } from './detach-child.ts'
import { machineProgram } from './native.ts'

const variable = 'VITRINE_HOST'
const value = randomHex(12)

/** Every process of this host carries it, so that the guard finds them when the host is gone. */
export const hostMarker: Readonly<Record<string, string>> = { [variable]: value }

/** What one sandbox asks of the guard. */
export interface Guarding {
  /** Whether there is a guard on this platform. */
  readonly present: boolean
  end(): void
}

const guarded = new Set<readonly string[]>()
let guard: ChildProcess | undefined

/**
 * One guard for all sandboxes of this process: it ends what they run when this process dies, however it dies.
 * `groups` are the control groups of the sandbox that asks.
 */
export function guardSandbox(groups: readonly string[]): Guarding {
  const program = machineProgram()
  if (program === undefined) return { present: false, end: () => undefined }
  const mine = [...groups]
  guarded.add(mine)
  if (guard === undefined) guard = start(program)
  else tell(guard, '+', mine)
  return {
    present: true,
    end: () => {
      if (!guarded.delete(mine) || guard === undefined) return
      tell(guard, '-', mine)
      if (guarded.size > 0) return
      guard.stdin?.end('.\n')
      guard = undefined
    },
  }
}

function start(program: string): ChildProcess {
  const child = spawn(program, ['guard', `${variable}=${value}`], {
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // It waits for this process; this process must not wait for it.
  inBackground(child)
  for (const groups of guarded) tell(child, '+', groups)
  child.once('exit', () => {
    // Somebody killed it: another takes its place.
    if (guard === child) guard = start(program)
  })
  return child
}

function tell(child: ChildProcess, sign: '+' | '-', groups: readonly string[]): void {
  for (const group of groups) child.stdin?.write(`${sign}${group}\n`)
}
