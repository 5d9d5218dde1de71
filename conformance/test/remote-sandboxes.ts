import { memoryStore } from '@vitrine/journal'
import type { MakeSandbox, SandboxUnderTest, SandboxWish } from '../src/index.ts'
import { Daemon } from './daemons.ts'
import { countProcesses, slow } from './sandboxes.ts'

/** Sandboxes of a daemon, each of its own, over HTTP. */
export function remoteSandboxes(isolation: 'none' | 'bubblewrap'): MakeSandbox {
  return async (wish: SandboxWish = {}): Promise<SandboxUnderTest> => {
    const { commitMs, policy, watch, ...local } = wish
    const store = commitMs === undefined ? {} : { store: slow(memoryStore(), commitMs) }
    const daemon = await Daemon.open(store)
    try {
      const watching = watch === false ? false : { ...watch, intervalMs: 50 }
      const sandbox = await daemon.client.create({
        // As root, as the kit itself: a host that is root would choose `nobody` for commands without isolation.
        local: JSON.parse(JSON.stringify({ ...local, isolation, user: 'root', watch: watching })),
        ...(policy && { policy }),
      })
      return {
        sandbox,
        journal: sandbox.journal,
        count: async (text) => countProcesses(text),
        close: () => daemon.close(),
      }
    } catch (error) {
      await daemon.close()
      throw error
    }
  }
}
