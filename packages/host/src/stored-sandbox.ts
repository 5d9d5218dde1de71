import { rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { HostParts } from './host.ts'
import type { SandboxRecord } from './records.ts'

/** Refuses another directory than the one that a sandbox had. */
export function assertSameWorkspace(record: SandboxRecord): void {
  const { id, directory } = record
  if (directory === undefined || !workspaceExists(record)) return
  const { dev, ino } = statSync(directory.path)
  if (dev !== directory.device || ino !== directory.inode)
    throw new VitrineError(
      'sandbox_replaced',
      `${directory.path} is another directory than the one that the sandbox ${id} had.`,
    )
}

export function assertWorkspaceExists(record: SandboxRecord): void {
  if (workspaceExists(record)) return
  throw new VitrineError(
    'sandbox_destroyed',
    `The workspace ${record.directory?.path} of the sandbox ${record.id} is gone.`,
  )
}

/** One that was never ready has nothing to be missed. */
function workspaceExists({ directory }: SandboxRecord): boolean {
  return directory === undefined || statSync(directory.path, { throwIfNoEntry: false }) !== undefined
}

/** Destroys a sandbox that does not run, without starting it; also one whose workspace is gone. */
export async function destroyStopped(parts: HostParts, record: SandboxRecord): Promise<void> {
  assertSameWorkspace(record)
  const { id } = record
  const journal = await parts.store.journal(id, { source: 'host', sandbox: id })
  await journal.operate('destroy', {}, async () => {
    for (const folder of ownFolders(parts, record)) rmSync(folder, { recursive: true, force: true })
    await journal.append([{ type: 'sandbox.destroyed', data: {} }])
  })
  parts.records.put({ ...record, state: 'destroyed' })
}

/** Those that its engine made for it, and would remove with it. */
function ownFolders({ data, defaults }: HostParts, { id, local, directory }: SandboxRecord): string[] {
  const { root, home } = { ...defaults, ...local }
  const own = join(data, 'sandboxes', id)
  if (root === undefined) return [own]
  const workspace = directory?.path ?? resolve(root)
  const beside = join(dirname(workspace), '.vitrine', basename(workspace))
  return [own, home === undefined ? beside : join(beside, `staging-${id}`)]
}
