import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { agentFolders, SandboxSessions } from '@vitrine/agents'
import type { HostCallContext } from '@vitrine/protocol'
import { createLocalSandbox, type LocalOptions } from '@vitrine/sandbox'
import type { HostCreateOptions, HostParts } from './host-parts.ts'
import { HostSandbox } from './host-sandbox.ts'
import type { SandboxRecord } from './records.ts'
import { SandboxShutdown } from './sandbox-shutdown.ts'
import { isRoot } from './settings.ts'
import { lastingManifest } from './stored-manifest.ts'

export interface StartSandboxOptions extends Pick<HostCreateOptions, 'policy' | 'onAsk'> {
  readonly signal: AbortSignal
  /** The context of the call that starts it. */
  readonly context?: HostCallContext
  /** Called after the sandbox was closed or destroyed. */
  onClosed(): void
}

/** Starts the engine of a record and its agent sessions. */
export async function startSandbox(
  parts: HostParts,
  record: SandboxRecord,
  { policy, onAsk, signal, onClosed, context }: StartSandboxOptions,
): Promise<HostSandbox> {
  const { store, agents, records } = parts
  const { id, workspace } = record
  const engine = await createLocalSandbox({
    id,
    store,
    provider: { name: 'local', options: localOptions(parts, record.local) },
    ...(workspace !== undefined && { workspace }),
    ...(policy && { policy }),
    ...(onAsk && { onAsk }),
    ...(context && { context }),
    signal,
  })
  try {
    const { dev: device, ino: inode } = statSync(engine.root)
    records.put({
      ...record,
      ...(workspace !== undefined && { workspace: lastingManifest(workspace) }),
      directory: { path: engine.root, device, inode },
    })
    const journal = await store.journal(id, { source: 'host', sandbox: id })
    const sessions = new SandboxSessions({ sandbox: engine, journal, store, agents })
    await sessions.closeInterrupted()
    const shutdown = new SandboxShutdown(engine, sessions, (end) => {
      if (end === 'destroyed') {
        records.put({ ...(records.get(id) ?? record), state: 'destroyed' })
        // The last events of its sessions may still contain them.
        void sessions
          .endAll('the sandbox was destroyed')
          .catch(() => undefined)
          .then(() => store.forgetSecretsOf(id))
      }
      onClosed()
    })
    return new HostSandbox(engine, sessions, shutdown)
  } catch (error) {
    await engine.close()
    throw error
  }
}

function localOptions({ data, defaults, agents }: HostParts, given: LocalOptions): LocalOptions {
  const options = { ...defaults, ...given, data }
  const isolated = options.isolation !== 'none'
  const binds = isolated ? agentFolders(agents).map((source) => ({ source })) : []
  const user = options.user ?? unisolatedUser(options.root, agents.node)
  return {
    ...options,
    ...(binds.length > 0 && { binds: [...(options.binds ?? []), ...binds] }),
    ...(user !== undefined && { user }),
  }
}

/** Without isolation, a root host runs commands as the owner of the workspace, or as the user `nobody`. */
function unisolatedUser(root: string | undefined, node: string): string | undefined {
  // If other users cannot execute Node, an agent cannot be started as one of them.
  if (!isRoot() || !othersMayEnter(dirname(node))) return undefined
  if (root === undefined) return 'nobody'
  const owner = statSync(root, { throwIfNoEntry: false })?.uid ?? 0
  return owner === 0 ? undefined : String(owner)
}

function othersMayEnter(folder: string): boolean {
  const open = (statSync(folder).mode & 0o001) !== 0
  return open && (folder === dirname(folder) || othersMayEnter(dirname(folder)))
}
