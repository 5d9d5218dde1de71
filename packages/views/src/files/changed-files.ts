import { type FileKind, isGap, type JournalItem } from '@vitrine/protocol'
import { copyOnce } from '../copy-once.ts'
import { asFields, countIn, present } from '../fields.ts'
import { mayMiss } from '../missing.ts'
import { rebuild, type View } from '../view.ts'
import { fileChangeOf } from './file-change.ts'
import { changed, created, deleted, type FileTrace, type FileTraces, moved } from './net-change.ts'
import { entriesBelow } from './path-tree.ts'

/** The net effect of all events on one path. */
export interface ChangedFile {
  readonly path: string
  readonly change: 'created' | 'changed' | 'deleted' | 'moved'
  readonly kind: FileKind
  /** Where a moved one was at the start. */
  readonly from?: string
  readonly size?: number
  /** The blob of its content at the start. */
  readonly before?: string
  /** The blob of its content now. Equal to `before` where it was written and then written back. */
  readonly after?: string
  /** A secret was taken out of one of the blobs. */
  readonly redacted?: true
  /** A moved one took the place of another that is gone. */
  readonly replaced?: true
  /** The last event about it. */
  readonly seq: number
}

/** What is known of the files that events spoke of. Read it with `listChangedFiles`. */
export interface ChangedFiles {
  readonly traces: FileTraces
  /** False once a change may have been missed: by a gap, or by a watcher that could not see everything. */
  readonly complete: boolean
}

const types = ['file.*', 'watch.degraded']

/**
 * Which files have changed since the first event, net: what was created and deleted again is not there.
 * As large as the number of paths that differ.
 *
 * @example
 * const files = listChangedFiles(rebuild(changedFilesView, events))
 */
export const changedFilesView: View<ChangedFiles> = {
  empty: { traces: {}, complete: true },
  add(state, events) {
    const copy = copyOnce()
    let { traces, complete } = state
    for (const item of events) {
      if (isGap(item)) {
        if (mayMiss(item, types)) complete = false
        continue
      }
      if (item.type === 'watch.degraded') complete = false
      const change = item.type.startsWith('file.') ? fileChangeOf(item) : undefined
      if (change === undefined) continue
      if (item.type === 'file.created') traces = created(copy, traces, change)
      else if (item.type === 'file.changed') traces = changed(copy, traces, change)
      else if (item.type === 'file.deleted') traces = deleted(copy, traces, change)
      else if (item.type === 'file.moved' && change.previousPath !== undefined) {
        traces = moved(copy, traces, change, change.previousPath)
      }
    }
    return traces === state.traces && complete === state.complete ? state : { traces, complete }
  },
}

/**
 * The files that had changed when the event with this `seq` was the last.
 *
 * @example
 * changedFilesAt(events, 120).map(({ change, path }) => `${change} ${path}`) // ['created src/a.ts']
 */
export function changedFilesAt(events: readonly JournalItem[], seq: number): ChangedFile[] {
  const until = events.filter((item) => (isGap(item) ? gapStart(item) : item.seq) <= seq)
  return listChangedFiles(rebuild(changedFilesView, until))
}

/**
 * The changed files in the order of their paths.
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
  const shared = { path, kind, seq, ...present({ size, after, redacted: now.redacted || gone?.redacted }) }
  if (origin === undefined && gone === undefined) return { ...shared, change: 'created' }
  if (origin === undefined) return { ...shared, change: 'changed', ...present({ before: gone?.before }) }
  const before = present({ before: now.before })
  // One that came back to its path in a new directory needs a trace, but nothing about it has changed.
  if (origin === path) return now.written && { ...shared, change: 'changed', ...before }
  return { ...shared, change: 'moved', from: origin, ...before, ...(gone && { replaced: true }) }
}

function gapStart(gap: JournalItem): number {
  return countIn(asFields(gap.data), 'from') ?? 0
}
