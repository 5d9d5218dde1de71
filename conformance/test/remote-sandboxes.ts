import { memoryStore } from '@vitrine/journal'
import { afterAll } from 'vitest'
import type { AttackedOptions, MakeSandbox, SandboxTestOptions, SandboxUnderTest } from '../src/index.ts'
import { InProcessDaemon } from './daemons.ts'
import { countProcesses, slow } from './sandboxes.ts'

/**
 * Sandboxes of a daemon over HTTP, each with its own client, destroyed when its test ends. All tests of a file share one
 * daemon; tests with a slow journal share another one per `commitMs`.
 */
export function remoteSandboxes(isolation: 'none' | 'bubblewrap'): MakeSandbox {
  const daemons = new Map<number | undefined, Promise<InProcessDaemon>>()
  afterAll(async () => {
    for (const daemon of daemons.values()) await (await daemon).close()
  })
  const daemonFor = (commitMs: number | undefined): Promise<InProcessDaemon> => {
    const opening =
      daemons.get(commitMs) ??
      InProcessDaemon.open(commitMs === undefined ? {} : { store: slow(memoryStore(), commitMs) })
    daemons.set(commitMs, opening)
    return opening
  }
  return async (options: SandboxTestOptions = {}) =>
    daemonSandbox(await daemonFor(options.commitMs), isolation, options)
}

/** A new sandbox of a daemon with its own client, destroyed when it is closed. */
export async function daemonSandbox(
  daemon: InProcessDaemon,
  isolation: 'none' | 'bubblewrap',
  options: AttackedOptions,
): Promise<SandboxUnderTest> {
  const { commitMs: _, policy, watch, secrets, ...local } = options
  const client = daemon.connect()
  try {
    const watching = watch === false ? false : { ...watch, intervalMs: 50 }
    const sandbox = await client.create({
      // Root, like the kit itself: a root host would run commands without isolation as `nobody`.
      local: JSON.parse(JSON.stringify({ ...local, isolation, user: 'root', watch: watching })),
      ...(policy && { policy }),
      ...(secrets && { secrets }),
    })
    return {
      sandbox,
      // Not the journal of the handle, which a test may close.
      journal: client.journal(sandbox.id),
      count: async (text) => countProcesses(text),
      async close() {
        await client.destroy(sandbox.id)
        await client.close()
      },
    }
  } catch (error) {
    await client.close()
    throw error
  }
}
