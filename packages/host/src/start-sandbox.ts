import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { agentFolders } from '@vitrine/agents'
import { type HostCallContext, isVitrineError, VitrineError } from '@vitrine/protocol'
import type { SandboxRecord } from '@vitrine/protocol/records'
import {
  type AskAboutCommand,
  commandPolicy,
  createLocalSandbox,
  type LocalOptions,
  type LocalSandbox,
  type WorkspaceManifest,
} from '@vitrine/sandbox'
import type { EngineSandbox } from './engine-sandbox.ts'
import { withSessions } from './engine-with-sessions.ts'
import { applyFloor } from './floor.ts'
import type { HostAttachOptions, HostParts } from './host-parts.ts'
import { LastingSettings } from './lasting-settings.ts'
import { assertNotWeaker, withMachine } from './restore-record.ts'
import { isRoot } from './settings.ts'
import { lastingManifest, readStoredManifest } from './stored-manifest.ts'
import { markDestroyed } from './stored-sandbox.ts'

export interface StartSandboxOptions extends Pick<HostAttachOptions, 'hooks' | 'allowDegraded'> {
  /** The manifest as the caller gave it; by default that of the record. */
  readonly workspace?: WorkspaceManifest
  readonly onAsk?: AskAboutCommand
  /** The values of the secrets that the record names. */
  readonly secrets?: Readonly<Record<string, string>>
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
  options: StartSandboxOptions,
): Promise<EngineSandbox> {
  const { store, agents, records, lives } = parts
  const { id } = record
  const journal = await store.journal(id, { source: 'host', sandbox: id })
  const life = lives.follow(record, journal)
  let engine: LocalSandbox | undefined
  try {
    engine = await startEngine(parts, record, options)
    const { identifiedBy } = engine
    await restoreHooks(engine, record, options)
    if (!isPrepared(record)) records.update(id, (current) => withDirectory(prepared(current), identifiedBy))
    return await withSessions(engine, {
      ...{ journal, store, agents, life },
      lasting: new LastingSettings(id, records),
      onEnded(end) {
        if (end === 'destroyed') markDestroyed(parts, id)
        options.onClosed()
      },
    })
  } catch (error) {
    life?.end()
    await engine?.close()
    throw error
  }
}

async function startEngine(
  parts: HostParts,
  record: SandboxRecord,
  { workspace, onAsk, secrets, allowDegraded, context, signal }: StartSandboxOptions,
): Promise<LocalSandbox> {
  const { records, store } = parts
  const { id, policy } = record
  const manifest = workspace ?? (record.workspace && readStoredManifest(record.workspace))
  let started = false
  try {
    return await createLocalSandbox({
      id,
      store,
      provider: { name: 'local', options: engineOptions(parts, record) },
      ...(manifest !== undefined && { workspace: manifest }),
      ...(policy && { policy: commandPolicy(policy) }),
      ...(onAsk && { onAsk }),
      ...(secrets && { secrets }),
      ...(context && { context }),
      privatePaths: parts.privatePathsOf(id),
      ...(record.persistenceBlocked && { persistenceBlocked: true }),
      // Stored before a command runs, so that whatever ends this host, the sandbox does not come back with less.
      onMachine(machine) {
        const current = (started && records.get(id)) || record
        assertNotWeaker(current, machine, allowDegraded)
        const next = withMachine(current, machine)
        records.put(isPrepared(next) ? withDirectory(next, machine.identifiedBy) : next)
        started = true
      },
      signal,
    })
  } catch (error) {
    throw record.degraded !== undefined && isVitrineError(error) && error.code === 'isolation_unavailable'
      ? explainIsolation(id, error)
      : error
  }
}

/** Whether the workspace needs no preparation any more. One that is being prepared may still get another directory. */
function isPrepared({ workspace = {} }: SandboxRecord): boolean {
  return isDeepStrictEqual(workspace, lastingManifest(workspace))
}

function prepared(record: SandboxRecord): SandboxRecord {
  return { ...record, ...(record.workspace && { workspace: lastingManifest(record.workspace) }) }
}

function withDirectory(record: SandboxRecord, path: string): SandboxRecord {
  const { dev: device, ino: inode } = statSync(path)
  return { ...record, directory: { path, device, inode } }
}

/** Registers the recorded hooks and skipped paths again; functions come from the caller. */
async function restoreHooks(
  { lifecycle }: LocalSandbox,
  { beforeStop, skipOnPersist }: SandboxRecord,
  { hooks }: StartSandboxOptions,
): Promise<void> {
  const commands = beforeStop.flatMap((hook) => ('command' in hook ? [hook.command] : []))
  for (const hook of hooks?.beforeStop ?? commands) await lifecycle.onBeforeStop(hook)
  for (const path of skipOnPersist) await lifecycle.skipOnPersist(path)
}

function explainIsolation(id: string, error: VitrineError): VitrineError {
  return new VitrineError(
    'isolation_unavailable',
    `${error.message} The sandbox ${id} was isolated, so it does not start without; \`attach('${id}', { isolation: 'none' })\` starts it all the same.`,
    { cause: error, details: { id } },
  )
}

function engineOptions({ data, defaults, floor, agents }: HostParts, { local }: SandboxRecord): LocalOptions {
  const { env = defaults.env, ...options } = applyFloor(floor, local)
  const binds = options.isolation === 'none' ? [] : agentFolders(agents).map((source) => ({ source }))
  const user = options.user ?? unisolatedUser(options.root, agents.node)
  return {
    ...options,
    data,
    ...(env !== undefined && { env }),
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
