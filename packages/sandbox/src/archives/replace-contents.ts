import { VitrineError } from '@vitrine/protocol'
import { about, fileError } from '../files/errors.ts'
import type { Handle } from '../files/handle.ts'
import { TimeSlice } from '../files/time-slice.ts'
import { type Attributes, settleDirectory } from './attributes.ts'
import { type MovedEntry, move } from './move.ts'
import { orderedNames } from './ordered-names.ts'

export interface SwapOptions {
  /** Names of the root that stay as they are. A staged thing of such a name is not taken. */
  readonly keep?: (name: string) => boolean
  /** Attributes that the root directory itself gets. */
  readonly attributes?: Attributes | undefined
}

/** The last swap of each directory that was asked for. */
const lastSwaps = new WeakMap<Handle, Promise<void>>()

/**
 * Gives a directory another content: what it holds goes into the trash and what is staged comes in. The directory
 * stays the same one, for those who stand in it. All of it happens, or nothing. Swaps of one directory run one after
 * the other.
 */
export function replaceContents(
  staged: Handle,
  root: Handle,
  trash: Handle,
  options: SwapOptions = {},
): Promise<void> {
  const before = lastSwaps.get(root)?.catch(() => undefined) ?? Promise.resolve()
  const swapped = before.then(() => swapNow(staged, root, trash, options))
  lastSwaps.set(root, swapped)
  return swapped
}

async function swapNow(
  staged: Handle,
  root: Handle,
  trash: Handle,
  { keep = () => false, attributes }: SwapOptions,
): Promise<void> {
  const before = root.duplicate()
  const done: { readonly from: MovedEntry; readonly to: MovedEntry }[] = []
  const pace = new TimeSlice()
  const moveAll = async (from: Handle, to: Handle) => {
    for (const name of orderedNames(from)) {
      if (pace.expired) await pace.yieldToEventLoop()
      if (name === undefined || keep(name)) continue
      const step = { from: { parent: from, name }, to: { parent: to, name } }
      move(step.from, step.to, name)
      done.push(step)
    }
  }
  try {
    await moveAll(root, trash)
    await moveAll(staged, root)
    if (attributes !== undefined) about('.', () => settleDirectory(root, attributes, undefined))
  } catch (error) {
    undo(done, error)
    const { mode, mtimeMs } = before.stats
    about('.', () => settleDirectory(root, { mode: mode & 0o7777, mtime: mtimeMs / 1_000 }, undefined))
    throw fileError(error, '.')
  } finally {
    before.close()
  }
}

function undo(
  done: readonly { readonly from: MovedEntry; readonly to: MovedEntry }[],
  reason: unknown,
): void {
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
    `The workspace could not be put back as it was: ${lost.length} of its entries are elsewhere, the first is ${JSON.stringify(lost[0]?.toWellFormed())}.`,
    { cause: fileError(reason, '.') },
  )
}
