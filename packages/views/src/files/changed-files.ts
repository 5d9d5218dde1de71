import { type ChangedFile, isGap, type JournalItem } from '@vitrine/protocol'
import { copyOnWrite } from '../copy-on-write.ts'
import { asFields, countIn, omitUndefined } from '../fields.ts'
import { gapMayContain } from '../gaps.ts'
import { rebuild, type View } from '../view.ts'
import { fileChangeOf } from './file-change.ts'
import {
  applyChanged,
  applyCreated,
  applyDeleted,
  applyMoved,
  type FileTrace,
  type FileTraces,
} from './net-change.ts'
import { entriesBelow } from './path-tree.ts'

/** The state of `changedFilesView`. Read it with `listChangedFiles`. */
export interface ChangedFiles {
  readonly traces: FileTraces
  /** False once a change may be missing, because of a gap or a degraded watcher. */
  readonly complete: boolean
}

const types = ['file.*', 'watch.degraded']

/**
 * The net file changes since the first event; a file that was created and deleted again is not listed.
 * The size of the state is proportional to the number of changed paths.
 *
 * @example
 * const files = listChangedFiles(rebuild(changedFilesView, events))
 */
export const changedFilesView: View<ChangedFiles> = {
  empty: { traces: {}, complete: true },
  add(state, events) {
    const copy = copyOnWrite()
    let { traces, complete } = state
    for (const item of events) {
      if (isGap(item)) {
        if (gapMayContain(item, types)) complete = false
        continue
      }
      if (item.type === 'watch.degraded') complete = false
      const change = item.type.startsWith('file.') ? fileChangeOf(item) : undefined
      if (change === undefined) continue
      if (item.type === 'file.created') traces = applyCreated(copy, traces, change)
      else if (item.type === 'file.changed') traces = applyChanged(copy, traces, change)
      else if (item.type === 'file.deleted') traces = applyDeleted(copy, traces, change)
      else if (item.type === 'file.moved' && change.previousPath !== undefined) {
        traces = applyMoved(copy, traces, change, change.previousPath)
      }
    }
    return traces === state.traces && complete === state.complete ? state : { traces, complete }
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
  return [...entriesBelow(state.traces, '')].flatMap(([path, trace]) => netChange(path, trace) ?? [])
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
