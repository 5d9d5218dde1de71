import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import type { LocalProvider } from '@vitrine/sandbox'
import type { HostCreateOptions } from './host.ts'
import type { HostSandbox } from './host-sandbox.ts'
import { openMemoryHost } from './open-host.ts'
import { type AgentSettings, sharedCache } from './settings.ts'

export interface ScriptSandboxOptions extends AgentSettings, Omit<HostCreateOptions, 'provider' | 'local'> {
  readonly provider?: LocalProvider
  /** Begins the name of the temporary directory that everything is in. */
  readonly prefix?: string
}

/** Not /tmp: agents keep their HOME here, and some refuse to have it below TMPDIR. */
const temporary = '/var/tmp'

/**
 * A sandbox with agents, for a script: nothing of it is left when it is closed, unless its workspace was given.
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
    sandbox.afterClose(cleanUp)
    return sandbox
  } catch (error) {
    await cleanUp()
    throw error
  }
}
