import type { CallContext, JournalReader, SandboxCore } from '@vitrine/protocol'
import { afterAll, expect, onTestFailed, onTestFinished } from 'vitest'

/** A sandbox as the kit uses it. */
export type TestedSandbox = Omit<SandboxCore, 'as'> & { as(context: CallContext): TestedSandbox }

/** What a test wants of its sandbox; the rest is as the implementation has it by default. */
export interface SandboxTestOptions {
  readonly limits?: {
    readonly memoryBytes?: number
    readonly cpus?: number
    readonly pids?: number
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
  /** Places beside the workspace that files may be read from, or written to. */
  readonly grants?: readonly { readonly path: string; readonly writable?: boolean }[]
  readonly watch?:
    | false
    | {
        readonly ignore?: readonly string[]
        readonly imageBytes?: number
        readonly imagesTotalBytes?: number
        readonly maxEntries?: number
      }
  /** Every commit of the journal takes at least so long. */
  readonly commitMs?: number
}

export interface SandboxUnderTest {
  readonly sandbox: TestedSandbox
  /** Stays readable when the sandbox is gone. */
  readonly journal: JournalReader
  /** How many processes have this text in their arguments, seen from where none can hide; absent where there is no such place. */
  count?(text: string): Promise<number>
  close(): Promise<void>
}

/** A new sandbox that runs, each time. */
export type MakeSandbox = (options?: SandboxTestOptions) => Promise<SandboxUnderTest>

/** A host of its own: a process whose death must take its sandboxes with it. */
export interface AnotherHost {
  /** `kill -9`. */
  kill(): void
  count(text: string): Promise<number>
  dispose(): Promise<void>
}

export interface SandboxKitOptions {
  /**
   * The sandbox is at the other end of a connection. Functions cannot be sent there, and bytes are on their way: the few
   * cases that turn on this ask for the same promise by other means.
   */
  readonly remote?: boolean
  /** Starts another host with a sandbox that spawns these commands, where one can be started. */
  startHost?(commands: readonly string[]): Promise<AnotherHost>
}

/** For one test; it is gone when the test ends. */
export async function newSandbox(make: MakeSandbox, options?: SandboxTestOptions): Promise<SandboxUnderTest> {
  const under = await make(options)
  onTestFinished(() => under.close())
  return under
}

/**
 * One sandbox for the tests of a `describe` that look at its workspace and its processes only: when a test asks for it,
 * the workspace is empty and no process is listed. The test after one that failed gets a new sandbox.
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
