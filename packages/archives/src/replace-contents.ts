import { VitrineError } from '@vitrine/protocol'
import { Serial } from '@vitrine/protocol/primitives'
import { type Attributes, applyDirectoryAttributes } from './attributes.ts'
import { fileError, withPathInErrors } from './directories/errors.ts'
import type { Handle } from './directories/handle.ts'
import { type EntryName, move } from './move.ts'
import { orderedNames } from './ordered-names.ts'
import { TimeSlice } from './time-slice.ts'

export interface ReplaceOptions {
  /** Entries of the root that stay unchanged. A staged entry of such a name is ignored. */
  readonly keep?: (name: string) => boolean
  /** The new attributes of the root itself. */
  readonly attributes?: Attributes | undefined
}

/** The replacements of each directory. */
const replacements = new WeakMap<Handle, Serial>()

/**
 * Replaces the content of a directory: moves the old entries to the trash and the staged ones in. The directory keeps
 * its inode, so processes with it as their working directory see the new content. A failure restores the old content.
 * Replacements of one directory run one after the other.
 */
export function replaceContents(
  staged: Handle,
  root: Handle,
  trash: Handle,
  options: ReplaceOptions = {},
): Promise<void> {
  const serial = replacements.get(root) ?? new Serial()
  replacements.set(root, serial)
  return serial.run(() => replaceNow(staged, root, trash, options))
}

async function replaceNow(
  staged: Handle,
  root: Handle,
  trash: Handle,
  { keep = () => false, attributes }: ReplaceOptions,
): Promise<void> {
  const before = root.duplicate()
  const done: { readonly from: EntryName; readonly to: EntryName }[] = []
  const timeSlice = new TimeSlice()
  const moveAll = async (from: Handle, to: Handle) => {
    for (const name of orderedNames(from)) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      if (name === undefined || keep(name)) continue
      const step = { from: { parent: from, name }, to: { parent: to, name } }
      move(step.from, step.to, name)
      done.push(step)
    }
  }
  try {
    await moveAll(root, trash)
    await moveAll(staged, root)
    if (attributes !== undefined)
      withPathInErrors('.', () => applyDirectoryAttributes(root, attributes, undefined))
  } catch (error) {
    undo(done, error)
    const { mode, mtimeMs } = before.stats
    withPathInErrors('.', () =>
      applyDirectoryAttributes(root, { mode: mode & 0o7777, mtime: mtimeMs / 1_000 }, undefined),
    )
    throw fileError(error, '.')
  } finally {
    before.close()
  }
}

function undo(done: readonly { readonly from: EntryName; readonly to: EntryName }[], reason: unknown): void {
  const lost: string[] = []
  for (const { from, to } of done.toReversed()) {
    try {
      move(to, from, from.name)
    } catch {
      lost.push(from.name)
    }
  }
  if (lost.length === 0) return
  throw new VitrineError(
    'file_failed',
    `The workspace could not be restored: ${lost.length} of its entries are missing, the first is ${JSON.stringify(lost[0]?.toWellFormed())}.`,
    { cause: fileError(reason, '.') },
  )
}
