import type { CallContext, JournalReader, SandboxCore } from '@vitrine/protocol'
import { afterAll, expect, onTestFailed, onTestFinished } from 'vitest'

/** The part of a sandbox that the kit uses. */
export type TestedSandbox = Omit<SandboxCore, 'as'> & { as(context: CallContext): TestedSandbox }

/** Options that a test sets for its sandbox. Everything else has the implementation's default. */
export interface SandboxTestOptions {
  readonly limits?: {
    readonly memoryBytes?: number
    readonly cpus?: number
    readonly pids?: number
    readonly tmpBytes?: number
    readonly diskBytes?: number
    readonly processes?: number
    readonly remembered?: number
    readonly journalBytes?: number
    readonly inputBytes?: number
    readonly archives?: {
      readonly inputBytes?: number
      readonly expandedBytes?: number
      readonly members?: number
      readonly ratio?: number
    }
  }
  readonly network?: 'none' | 'host'
  readonly egress?: readonly string[]
  readonly policy?: {
    readonly allow?: readonly string[]
    readonly deny?: readonly string[]
    readonly otherwise?: 'allow' | 'ask' | 'deny'
  }
  /** Directories outside the workspace that the sandbox may read, or write if `writable`. */
  readonly grants?: readonly { readonly path: string; readonly writable?: boolean }[]
  readonly watch?:
    | false
    | {
        readonly ignore?: readonly string[]
        readonly imageBytes?: number
        readonly imagesTotalBytes?: number
        readonly maxEntries?: number
      }
  /** The minimum duration of every journal commit. */
  readonly commitMs?: number
}

export interface SandboxUnderTest {
  readonly sandbox: TestedSandbox
  /** Stays readable after the sandbox is closed or destroyed. */
  readonly journal: JournalReader
  /** Counts the processes with this text in their arguments, from outside the sandbox; absent where that is not possible. */
  count?(text: string): Promise<number>
  close(): Promise<void>
}

/** Creates and starts a new sandbox on every call. */
export type MakeSandbox = (options?: SandboxTestOptions) => Promise<SandboxUnderTest>

/** A host in a separate process. When the process is killed, its sandboxes must end too. */
export interface AnotherHost {
  /** Sends SIGKILL. */
  kill(): void
  count(text: string): Promise<number>
  dispose(): Promise<void>
}

export interface SandboxKitOptions {
  /**
   * Whether the sandbox is used over a connection. Then functions cannot be passed and bytes are buffered in transit; the
   * few cases that depend on this check the same guarantee in another way.
   */
  readonly remote?: boolean
  /** Starts a second host with a sandbox that spawns these commands; absent where that is not possible. */
  startHost?(commands: readonly string[]): Promise<AnotherHost>
}

/** Creates a sandbox that is closed when the test ends. */
export async function newSandbox(make: MakeSandbox, options?: SandboxTestOptions): Promise<SandboxUnderTest> {
  const under = await make(options)
  onTestFinished(() => under.close())
  return under
}

/**
 * Shares one sandbox among the tests of a `describe`, for tests that use only its workspace and its processes. Each call
 * empties the workspace and removes all processes first. After a failed test the next one gets a new sandbox.
 */
export function sharedSandbox(
  make: MakeSandbox,
  options?: SandboxTestOptions,
): () => Promise<SandboxUnderTest> {
  let making: Promise<SandboxUnderTest> | undefined
  const close = async () => {
    const made = making
    making = undefined
    await made?.then((under) => under.close())
  }
  afterAll(close)
  return async () => {
    onTestFailed(close)
    if (making === undefined) {
      making = make(options)
      return making
    }
    const under = await making
    await clear(under.sandbox)
    return under
  }
}

async function clear(sandbox: TestedSandbox): Promise<void> {
  for (const { id } of await sandbox.processes.list()) {
    await sandbox.processes.kill(id)
    await sandbox.processes.remove(id)
  }
  const emptied = await sandbox.exec('chmod -R u+rwX . && find . -mindepth 1 -delete')
  expect(emptied).toMatchObject({ exitCode: 0, stderr: '' })
}
