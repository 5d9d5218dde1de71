import { lstatSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Journal, Store } from '@vitrine/journal'
import { type HostCallContext, readPages, VitrineError } from '@vitrine/protocol'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { recordDestroyed, removeAllPlaced, removeFolder, removeLeftVolume } from '@vitrine/sandbox'
import type { HostParts } from './host-parts.ts'
import type { DestroyReason } from './host-sandbox.ts'

/**
 * Throws when the workspace's path leads to another directory than before. A directory inside the data directory may be
 * another one, because that is how a restored copy looks, but not a link.
 */
export function assertSameWorkspace(record: SandboxRecord, data: string): void {
  const { id, directory } = record
  const path = workspacePath(record, data)
  if (path === undefined || directory === undefined) return
  const look = isManaged(record) ? lstatSync : statSync
  const found = look(path, { throwIfNoEntry: false })
  if (found === undefined) return
  const isSame = isManaged(record)
    ? !found.isSymbolicLink()
    : found.dev === directory.device && found.ino === directory.inode
  if (isSame) return
  throw new VitrineError(
    'sandbox_replaced',
    `${path} is not the directory that was the workspace of the sandbox ${id}.`,
  )
}

export function assertWorkspaceExists(record: SandboxRecord, data: string): void {
  const path = workspacePath(record, data)
  if (path === undefined || statSync(path, { throwIfNoEntry: false }) !== undefined) return
  throw new VitrineError(
    'sandbox_destroyed',
    `The workspace ${path} of the sandbox ${record.id} does not exist any more.`,
  )
}

/** The workspace's directory, or the file of its volume; undefined for a sandbox that never started. */
function workspacePath(record: SandboxRecord, data: string): string | undefined {
  const { id, directory } = record
  if (directory === undefined || !isManaged(record)) return directory?.path
  // The data directory may have been moved or restored elsewhere.
  return join(data, 'sandboxes', id, basename(directory.path))
}

/** Whether the host chose the workspace, inside its data directory. */
function isManaged({ local }: SandboxRecord): boolean {
  return local.root === undefined
}

/** Destroys a stopped sandbox without starting it, also one whose workspace is missing. */
export async function destroyStopped(
  parts: HostParts,
  record: SandboxRecord,
  context: HostCallContext = {},
  reason?: DestroyReason,
): Promise<void> {
  assertSameWorkspace(record, parts.data)
  const { id } = record
  const journal = await parts.store.journal(id, { ...context, source: 'host', sandbox: id })
  const data = reason === undefined ? {} : { reason }
  await journal.operate('destroy', data, async () => {
    await cleanGivenHome(parts, record)
    await removeLeftVolume(parts.data, id)
    for (const folder of ownFolders(parts, record)) await removeFolder(folder)
    await recordDestroyed(journal, data)
  })
  markDestroyed(parts, id)
  parts.store.forgetSecretsOf(id)
}

/** Notes that a sandbox has no workspace any more. */
export function markDestroyed({ records, lives }: Pick<HostParts, 'records' | 'lives'>, id: string): void {
  records.update(id, (record) => ({ ...record, state: 'destroyed' }))
  lives.remove(id)
}

/** Removes login files from a HOME that the caller chose; the sandbox's own HOME is removed as a whole. */
async function cleanGivenHome({ data, defaults }: HostParts, { id, local }: SandboxRecord): Promise<void> {
  const { home } = { ...defaults, ...local }
  if (home === undefined) return
  await removeAllPlaced({ home: resolve(home), state: join(data, 'sandboxes', id, 'state') })
}

/** The folders that the engine created for the sandbox and would remove on destroy. */
export function ownFolders(
  { data }: Pick<HostParts, 'data'>,
  { id, local: { root }, directory }: SandboxRecord,
): string[] {
  const own = join(data, 'sandboxes', id)
  if (root === undefined) return [own]
  const workspace = directory?.path ?? resolve(root)
  return [own, directoryBeside(workspace, id)]
}

/** Where the engine puts HOME and the staging directory of a sandbox whose workspace was given. */
export function directoryBeside(workspace: string, id: string): string {
  return join(dirname(workspace), '.vitrine', id)
}

/**
 * Completes a record of a version that stored neither the isolation of its machine nor its policy, from the journal. What
 * the caller of `attach` replaced stays. Throws if the sandbox had a policy, which the journal does not have.
 */
export async function completedFromJournal(
  store: Store,
  record: SandboxRecord,
  { isolation }: { readonly isolation?: unknown },
): Promise<SandboxRecord> {
  const { id, degraded, directory, policy, local } = record
  if (degraded !== undefined || directory === undefined) return record
  const journal = await store.journal(id)
  if (policy === undefined && (await hadPolicy(journal)))
    throw new VitrineError(
      'attach_incomplete',
      `The sandbox ${id} had a policy, which was not stored at that time. Give it again: \`attach('${id}', …)\` with policy.`,
      { details: { id, missing: ['policy'] } },
    )
  if (isolation !== undefined) return record
  const { events } = await journal.read({ types: ['sandbox.ready'], order: 'desc', limit: 1 })
  const [ready] = events
  if (ready === undefined || ready.type !== 'sandbox.ready' || !wasIsolated(ready.data)) return record
  return { ...record, local: { ...local, isolation: 'bubblewrap' } }
}

/** Whether a policy judged a command: each decision is in the journal. */
async function hadPolicy(journal: Journal): Promise<boolean> {
  for await (const { events } of readPages(journal, { types: ['operation.progress'], text: 'policy' }))
    if (events.some((event) => event.type === 'operation.progress' && event.data.gate === 'policy'))
      return true
  return false
}

function wasIsolated({ capabilities }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof capabilities === 'object' &&
    capabilities !== null &&
    'isolation' in capabilities &&
    capabilities.isolation === 'namespaces'
  )
}
