import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import type { LocalProvider } from '@vitrine/sandbox'
import type { HostCreateOptions } from './host-parts.ts'
import type { HostSandbox } from './host-sandbox.ts'
import { openMemoryHost } from './open-host.ts'
import { type AgentSettings, sharedCache } from './settings.ts'
import { directoryBeside } from './stored-sandbox.ts'

export interface ScriptSandboxOptions extends AgentSettings, Omit<HostCreateOptions, 'provider' | 'local'> {
  readonly provider?: LocalProvider
  /** Prefix of the temporary directory's name. */
  readonly prefix?: string
}

/** Not /tmp: HOME of the agents is in it, and some agents refuse a HOME below TMPDIR. */
const temporary = '/var/tmp'

/**
 * Creates a sandbox with agents for a script. Closing it deletes everything, except a workspace that the caller gave.
 *
 * @example
 * await using sandbox = await createSandbox()
 * const session = await sandbox.openSession({ agent: 'demo' })
 */
export async function createSandbox(options: ScriptSandboxOptions = {}): Promise<HostSandbox> {
  checkOptions('createSandbox', hostOptions.script, options)
  const { provider, agents, install, onInstall, agentCache, prefix = 'vitrine-', ...create } = options
  const data = mkdtempSync(join(temporary, prefix))
  const host = await openMemoryHost(data, {
    ...(agents && { agents }),
    ...(install && { install }),
    ...(onInstall && { onInstall }),
    agentCache: agentCache ?? sharedCache(),
  })
  const cleanUp = async () => {
    await host.close()
    rmSync(data, { recursive: true, force: true })
  }
  try {
    const sandbox = await host.create({ ...create, local: provider?.options ?? {} })
    sandbox.afterClose(async () => {
      await cleanUp()
      if (provider?.options.root === undefined) return
      rmSync(directoryBeside(sandbox.root, sandbox.id), { recursive: true, force: true })
    })
    return sandbox
  } catch (error) {
    await cleanUp()
    throw error
  }
}
