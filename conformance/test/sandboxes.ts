import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { memoryStore, openStore, type StoreDriver, sqliteStore } from '@vitrine/journal'
import { commandPolicy, createLocalSandbox, type Isolation, local, type WatchOptions } from '@vitrine/sandbox'
import { forwardingConnection } from '../src/drivers/forwarding-connection.ts'
import type { AnotherHost, AttackedOptions, SandboxTestOptions, SandboxUnderTest } from '../src/index.ts'

/** Local sandboxes, each with its own data folder and store. */
export function localSandboxes(
  isolation: Isolation,
  kind: 'memory' | 'sqlite',
  mode: WatchOptions['mode'] = 'native',
): (options?: AttackedOptions) => Promise<SandboxUnderTest> {
  return async (options: AttackedOptions = {}): Promise<SandboxUnderTest> => {
    const { limits, network, egress, policy, grants, watch, commitMs, secrets } = options
    // Not below /tmp: a sandbox has a /tmp of its own.
    const data = await mkdtemp(join('/var/tmp', 'vitrine-conformance-'))
    const driver = kind === 'memory' ? memoryStore() : sqliteStore({ path: join(data, 'journal.db') })
    const store = await openStore(commitMs === undefined ? driver : slow(driver, commitMs))
    try {
      const provider = local({
        data,
        isolation,
        ...(limits && { limits }),
        ...(network && { network }),
        ...(egress && { egress }),
        ...(grants && { grants }),
        watch: watchOptions(watch, mode),
      })
      const sandbox = await createLocalSandbox({
        provider,
        store,
        ...(policy && { policy: commandPolicy(policy) }),
        ...(secrets && { secrets }),
      })
      return {
        sandbox,
        journal: sandbox.journal,
        count: async (text) => countProcesses(text),
        async close() {
          await sandbox.close()
          await store.close()
          await rm(data, { recursive: true, force: true })
        },
      }
    } catch (error) {
      await store.close()
      await rm(data, { recursive: true, force: true })
      throw error
    }
  }
}

function watchOptions(
  watch: SandboxTestOptions['watch'] = {},
  mode: WatchOptions['mode'] = 'native',
): WatchOptions | false {
  return watch === false ? watch : { ...watch, mode, intervalMs: 50 }
}

/** A store driver that delays every commit. */
export function slow(driver: StoreDriver, milliseconds: number): StoreDriver {
  return {
    kind: driver.kind,
    open: async (options) =>
      forwardingConnection(await driver.open(options), async (call, run) => {
        if (call === 'commit') await sleep(milliseconds)
        return run()
      }),
  }
}

/** Counts the processes with a text in their arguments, including those in other PID namespaces. */
export function countProcesses(text: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text)).length
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Starts a host in another process with a sandbox that spawns these commands. */
export async function anotherHost(isolation: Isolation, commands: readonly string[]): Promise<AnotherHost> {
  const data = await mkdtemp(join('/var/tmp', 'vitrine-conformance-'))
  const program = fileURLToPath(new URL('sandbox-host.ts', import.meta.url))
  // The commands go to stdin: as arguments they would match in `countProcesses`.
  const child = spawn(process.execPath, ['--conditions=source', program, isolation, data], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(commands))
  await once(child.stdout, 'data')
  return {
    kill: () => void child.kill('SIGKILL'),
    count: async (text) => countProcesses(text),
    async dispose() {
      child.kill('SIGKILL')
      await rm(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}
