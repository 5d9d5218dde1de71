import { type ChildProcess, spawn } from 'node:child_process'
import { randomHex } from '@vitrine/protocol'
import { detachChild } from './detach-child.ts'
import { machineProgram } from './native.ts'

const variable = 'VITRINE_HOST'
const value = randomHex(12)

/** Every process of this host has this environment variable, so that the guard finds it when the host is dead. */
export const hostMarker: Readonly<Record<string, string>> = { [variable]: value }

/** One sandbox's registration with the guard process. */
export interface GuardRegistration {
  /** Whether this platform has a guard. */
  readonly present: boolean
  end(): void
}

const registered = new Set<readonly string[]>()
let guard: ChildProcess | undefined

/**
 * Registers a sandbox with the guard, one process for all sandboxes of this host, which kills their processes when the
 * host dies for any reason. `groups` are the sandbox's control groups.
 */
export function guardSandbox(groups: readonly string[]): GuardRegistration {
  const program = machineProgram()
  if (program === undefined) return { present: false, end: () => undefined }
  const ownGroups = [...groups]
  registered.add(ownGroups)
  if (guard === undefined) guard = start(program)
  else sendGroups(guard, '+', ownGroups)
  return {
    present: true,
    end: () => {
      if (!registered.delete(ownGroups) || guard === undefined) return
      sendGroups(guard, '-', ownGroups)
      if (registered.size > 0) return
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
  // The guard waits for this process to exit, so this process must not wait for the guard.
  detachChild(child)
  for (const groups of registered) sendGroups(child, '+', groups)
  child.once('exit', () => {
    // The guard was killed: start another.
    if (guard === child) guard = start(program)
  })
  return child
}

function sendGroups(child: ChildProcess, sign: '+' | '-', groups: readonly string[]): void {
  for (const group of groups) child.stdin?.write(`${sign}${group}\n`)
}
