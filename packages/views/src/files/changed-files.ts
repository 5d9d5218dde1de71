import { type ChangedFile, isGap, type JournalItem } from '@vitrine/protocol'
import { type CopyOnWrite, copyOnWrite } from '../copy-on-write.ts'
import { asFields, countIn, omitUndefined } from '../fields.ts'
import { gapMayContain } from '../gaps.ts'
import { rebuild, type View } from '../view.ts'
import { type FileChange, fileChangeOf } from './file-change.ts'
import {
  applyChanged,
  applyCreated,
  applyDeleted,
  applyMoved,
  type FileTrace,
  type FileTraces,
} from './net-change.ts'
import { entriesBelow, entriesOf, subtreeAt, valueAt, withValue } from './path-tree.ts'

/** The state of `changedFilesView`. Read it with `listChangedFiles`. */
export interface ChangedFiles {
  readonly traces: FileTraces
  /** Changes by the manifest of the workspace that nothing has touched since. */
  readonly prepared?: FileTraces
  /** False once a change may be missing, because of a gap or a degraded watcher. */
  readonly complete: boolean
}

const types = ['file.*', 'watch.degraded']

/**
 * The net file changes since the first event; a file that was created and deleted again is not listed. Files that the
 * manifest wrote are marked; later changes of them are relative to what the manifest wrote.
 * The size of the state is proportional to the number of changed paths.
 *
 * @example
 * const files = listChangedFiles(rebuild(changedFilesView, events))
 */
export const changedFilesView: View<ChangedFiles> = {
  empty: { traces: {}, complete: true },
  add(state, events) {
    const copy = copyOnWrite()
    let { traces, prepared, complete } = state
    for (const item of events) {
      if (isGap(item)) {
        if (gapMayContain(item, types)) complete = false
        continue
      }
      if (item.type === 'watch.degraded') complete = false
      const change = item.type.startsWith('file.') ? fileChangeOf(item) : undefined
      if (change === undefined) continue
      if (change.byManifest) {
        prepared = withChange(copy, prepared ?? {}, item.type, change)
        continue
      }
      const before =
        change.before ?? (prepared && valueAt(prepared, change.previousPath ?? change.path)?.now?.after)
      traces = withChange(copy, traces, item.type, { ...change, before })
      if (prepared !== undefined) prepared = withoutTouched(copy, prepared, item.type, change)
    }
    if (traces === state.traces && prepared === state.prepared && complete === state.complete) return state
    return { traces, ...(prepared && { prepared }), complete }
  },
}

/**
 * The net file changes up to and including the event with this `seq`.
 *
 * @example
 * changedFilesAt(events, 120).map(({ change, path }) => `${change} ${path}`) // ['created src/a.ts']
 */
export function changedFilesAt(events: readonly JournalItem[], seq: number): ChangedFile[] {
  const until = events.filter((item) => (isGap(item) ? gapStart(item) : item.seq) <= seq)
  return listChangedFiles(rebuild(changedFilesView, until))
}

/**
 * The changed files, sorted by path.
 *
 * @example
 * listChangedFiles(state).filter(({ change }) => change === 'deleted')
 */
export function listChangedFiles(state: ChangedFiles): ChangedFile[] {
  const files = changesIn(state.traces)
  if (state.prepared === undefined) return files
  const prepared = changesIn(state.prepared).map((file) => ({ ...file, manifest: true as const }))
  return [...files, ...prepared].sort((a, b) => (pathOrder(a.path) < pathOrder(b.path) ? -1 : 1))
}

function changesIn(traces: FileTraces): ChangedFile[] {
  return [...entriesBelow(traces, '')].flatMap(([path, trace]) => netChange(path, trace) ?? [])
}

/** Orders a directory before its entries, and these before a name that continues the directory's. */
function pathOrder(path: string): string {
  return path.replaceAll('/', '\0')
}

function withChange(copy: CopyOnWrite, traces: FileTraces, type: string, change: FileChange): FileTraces {
  if (type === 'file.created') return applyCreated(copy, traces, change)
  if (type === 'file.changed') return applyChanged(copy, traces, change)
  if (type === 'file.deleted') return applyDeleted(copy, traces, change)
  return type === 'file.moved' && change.previousPath !== undefined
    ? applyMoved(copy, traces, change, change.previousPath)
    : traces
}

/** Without the paths of a change that the manifest did not make, and those below a directory that moved or was deleted. */
function withoutTouched(
  copy: CopyOnWrite,
  prepared: FileTraces,
  type: string,
  { path, previousPath }: FileChange,
): FileTraces {
  let next = valueAt(prepared, path) ? withValue(copy, prepared, path, undefined) : prepared
  const gone = previousPath ?? (type === 'file.deleted' ? path : undefined)
  if (gone === undefined) return next
  // Copied to an array first, since removing an entry may modify the tree that is being walked.
  for (const [below] of [...entriesOf(subtreeAt(next, gone) ?? {}, gone)])
    next = withValue(copy, next, below, undefined)
  return next
}

function netChange(path: string, { now, gone }: FileTrace): ChangedFile | undefined {
  if (now === undefined) return gone && { path, change: 'deleted', ...gone }
  const { kind, seq, size, after, origin } = now
  const shared = {
    path,
    kind,
    seq,
    ...omitUndefined({ size, after, redacted: now.redacted || gone?.redacted }),
  }
  if (origin === undefined && gone === undefined) return { ...shared, change: 'created' }
  if (origin === undefined)
    return { ...shared, change: 'changed', ...omitUndefined({ before: gone?.before }) }
  const before = omitUndefined({ before: now.before })
  // A file that moved back to its path in a new directory has a trace, but no net change.
  if (origin === path) return now.written && { ...shared, change: 'changed', ...before }
  return { ...shared, change: 'moved', from: origin, ...before, ...(gone && { replaced: true }) }
}

function gapStart(gap: JournalItem): number {
  return countIn(asFields(gap.data), 'from') ?? 0
}
