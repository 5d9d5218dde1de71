import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import type { LocalProvider, SandboxEnd } from '@vitrine/sandbox'
import type { Host } from './host.ts'
import type { HostCreateOptions } from './host-parts.ts'
import type { HostSandbox } from './host-sandbox.ts'
import type { JournalingOptions } from './journaling.ts'
import { openMemoryHost } from './open-host.ts'
import { type AgentSettings, sharedCache } from './settings.ts'
import { directoryBeside } from './stored-sandbox.ts'

export interface ScriptSandboxOptions
  extends AgentSettings,
    JournalingOptions,
    Omit<HostCreateOptions, 'provider' | 'local'> {
  readonly provider?: LocalProvider
  /** Prefix of the temporary directory's name. */
  readonly prefix?: string
}

/** Not /tmp: HOME of the agents is in it, and some agents refuse a HOME below TMPDIR. */
const temporary = '/var/tmp'

/**
 * Creates a sandbox with agents for a script. Closing or destroying it deletes everything, except a workspace and a HOME
 * that the caller gave. The journal of a destroyed one stays readable through its handle.
 *
 * @example
 * await using sandbox = await createSandbox()
 * const session = await sandbox.openSession({ agent: 'demo' })
 */
export async function createSandbox(options: ScriptSandboxOptions = {}): Promise<HostSandbox> {
  checkOptions('createSandbox', hostOptions.script, options)
  const { provider, agents, install, onInstall, agentCache, ...rest } = options
  const { retention, payload, payloadByOp, sinks, onObserverError, ...others } = rest
  const { prefix = 'vitrine-', ...create } = others
  const data = mkdtempSync(join(temporary, prefix))
  const removeData = () => rmSync(data, { recursive: true, force: true })
  let end: SandboxEnd = 'closed'
  let id = ''
  let host: Host | undefined
  try {
    host = await openMemoryHost(
      data,
      {
        ...(agents && { agents }),
        ...(install && { install }),
        ...(onInstall && { onInstall }),
        ...(retention && { retention }),
        ...(payload && { payload }),
        ...(payloadByOp && { payloadByOp }),
        ...(sinks && { sinks }),
        ...(onObserverError && { onObserverError }),
        agentCache: agentCache ?? sharedCache(),
      },
      // The journal of a destroyed sandbox stays readable for as long as its handle is in use.
      (store) => (end === 'destroyed' ? store.seal(destroyed(id)) : store.close()),
    )
    const sandbox = await host.create({ ...create, local: provider?.options ?? {} })
    id = sandbox.id
    const { root } = sandbox
    sandbox.afterEnd(async (how) => {
      end = how
      try {
        await host?.close()
      } finally {
        removeData()
        if (provider?.options.root !== undefined)
          rmSync(directoryBeside(root, id), { recursive: true, force: true })
      }
    })
    return sandbox
  } catch (error) {
    await host?.close()
    removeData()
    throw error
  }
}

function destroyed(id: string): VitrineError {
  return new VitrineError('sandbox_destroyed', `The sandbox ${id} was destroyed.`)
}
