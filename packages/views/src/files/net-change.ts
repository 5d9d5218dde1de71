import type { FileKind } from '@vitrine/protocol'
import type { CopyOnWrite } from '../copy-on-write.ts'
import { omitUndefined } from '../fields.ts'
import { entryOf } from '../table.ts'
import type { FileChange } from './file-change.ts'
import { type ChangedPathTree, entriesOf, namesOf, subtreeAt, valueAt, withValue } from './path-tree.ts'

// Files are tracked by identity, like inodes: `now` is the file at a path, with its original path as `origin`; `gone` is
// the file that was originally at the path and no longer exists. Together they give the net change of a path.

interface CurrentFile {
  /** Its original path; absent for a new file. */
  readonly origin?: string
  /** Its content was written; a move alone does not set this. */
  readonly written?: true
  readonly kind: FileKind
  readonly size?: number
  readonly before?: string
  readonly after?: string
  readonly redacted?: true
  /** The last event about it. */
  readonly seq: number
}

interface LostFile {
  readonly kind: FileKind
  readonly before?: string
  readonly redacted?: true
  readonly seq: number
}

export interface FileTrace {
  readonly now?: CurrentFile
  readonly gone?: LostFile
}

export type FileTraces = ChangedPathTree<FileTrace>

export function applyCreated(copy: CopyOnWrite, traces: FileTraces, change: FileChange): FileTraces {
  return withWritten(copy, traces, change, valueAt(traces, change.path)?.now?.origin)
}

/** A changed file without earlier events existed at the start. */
export function applyChanged(copy: CopyOnWrite, traces: FileTraces, change: FileChange): FileTraces {
  const known = valueAt(traces, change.path)?.now
  return withWritten(copy, traces, change, known ? known.origin : originAt(traces, change.path))
}

/** Also deletes every known entry below a directory. */
export function applyDeleted(copy: CopyOnWrite, traces: FileTraces, change: FileChange): FileTraces {
  const { path, kind, before, redacted, seq } = change
  const origin = valueAt(traces, path)?.now ? undefined : originAt(traces, path)
  const next = withoutAll(copy, traces, path, { seq, before })
  return origin === undefined
    ? next
    : withGone(copy, next, origin, { kind, seq, ...omitUndefined({ before, redacted }) })
}

/**
 * Also moves every known entry below a directory, and replaces the file at the new path. Entries below the new path of
 * a directory stay: they moved there before it, each with its own event.
 */
export function applyMoved(
  copy: CopyOnWrite,
  traces: FileTraces,
  change: FileChange,
  from: string,
): FileTraces {
  const { path, kind, size, after, seq } = change
  if (from === path) return traces
  const known = valueAt(traces, from)?.now
  const origin = known ? known.origin : originAt(traces, from)
  const self: CurrentFile = {
    ...known,
    ...omitUndefined({ origin, size, after, before: firstBefore(known, origin, change) }),
    ...redactedOf(known, change),
    kind,
    seq,
  }
  const taken = takeAll(copy, traces, from)
  const cleared =
    kind === 'directory'
      ? withoutOne(copy, taken.traces, path, { seq })
      : withoutAll(copy, taken.traces, path, { seq })
  let next = withMoved(copy, cleared, path, self)
  for (const [old, now] of taken.files) {
    if (old !== from) next = withMoved(copy, next, path + old.slice(from.length), now)
  }
  return next
}

function withWritten(
  copy: CopyOnWrite,
  traces: FileTraces,
  change: FileChange,
  origin: string | undefined,
): FileTraces {
  const { path, kind, size, after, seq } = change
  const known = valueAt(traces, path)?.now
  // Without `size` or `after` in this event they are unknown: earlier values are outdated.
  return withNow(copy, traces, path, {
    ...omitUndefined({ origin, size, after, before: firstBefore(known, origin, change) }),
    ...redactedOf(known, change),
    written: true,
    kind,
    seq,
  })
}

/** Keeps the first `before`; a file that was only moved may still get one. */
function firstBefore(
  known: CurrentFile | undefined,
  origin: string | undefined,
  change: FileChange,
): string | undefined {
  if (origin === undefined) return undefined
  return known?.written ? known.before : (known?.before ?? change.before)
}

function redactedOf(known: CurrentFile | undefined, change: FileChange): { readonly redacted?: true } {
  return known?.redacted || change.redacted ? { redacted: true } : {}
}

/** The original path of a file without a trace of its own, derived from the moves of its parent directories. */
function impliedOrigin(traces: FileTraces, path: string): string | undefined {
  const [first = '', ...rest] = namesOf(path)
  let origin: string | undefined = first
  let node = entryOf(traces.below ?? {}, first)
  for (const name of rest) {
    const directory: CurrentFile | undefined = node?.value?.now
    if (directory) origin = directory.origin
    if (origin !== undefined) origin = `${origin}/${name}`
    node = node && entryOf(node.below ?? {}, name)
  }
  return origin
}

function originAt(traces: FileTraces, path: string): string | undefined {
  const origin = impliedOrigin(traces, path)
  // The original file no longer exists, so this is a different one.
  return origin === undefined || valueAt(traces, origin)?.gone ? undefined : origin
}

function withNow(copy: CopyOnWrite, traces: FileTraces, path: string, now: CurrentFile): FileTraces {
  return withValue(copy, traces, path, { ...valueAt(traces, path), now })
}

/** An unchanged file that is back at its original path needs no trace. */
function withMoved(copy: CopyOnWrite, traces: FileTraces, path: string, now: CurrentFile): FileTraces {
  const back = !now.written && now.origin !== undefined && now.origin === impliedOrigin(traces, path)
  return back ? traces : withNow(copy, traces, path, now)
}

function withGone(copy: CopyOnWrite, traces: FileTraces, path: string, gone: LostFile): FileTraces {
  const known = valueAt(traces, path)
  return known?.gone ? traces : withValue(copy, traces, path, { ...known, gone })
}

interface LastState {
  readonly seq: number
  /** The last content of the file at the path itself, if the event has it. */
  readonly before?: string | undefined
}

function withoutAll(copy: CopyOnWrite, traces: FileTraces, path: string, ending: LastState): FileTraces {
  const taken = takeAll(copy, traces, path)
  return withEndedFiles(copy, taken.traces, taken.files, path, ending)
}

/** Removes the entry at the path, but not the entries below it. */
function withoutOne(copy: CopyOnWrite, traces: FileTraces, path: string, ending: LastState): FileTraces {
  const { now, gone } = valueAt(traces, path) ?? {}
  if (now === undefined) return traces
  return withEndedFiles(copy, withValue(copy, traces, path, gone && { gone }), [[path, now]], path, ending)
}

function withEndedFiles(
  copy: CopyOnWrite,
  traces: FileTraces,
  files: readonly (readonly [path: string, now: CurrentFile])[],
  path: string,
  ending: LastState,
): FileTraces {
  let next = traces
  for (const [filePath, { origin, written, kind, redacted, ...now }] of files) {
    if (origin === undefined) continue
    const before = now.before ?? (filePath === path && !written ? ending.before : undefined)
    next = withGone(copy, next, origin, { kind, seq: ending.seq, ...omitUndefined({ before, redacted }) })
  }
  return next
}

/** Removes the current entries at a path and below it, and returns them. */
function takeAll(copy: CopyOnWrite, traces: FileTraces, path: string) {
  const files: [path: string, now: CurrentFile][] = []
  let next = traces
  // Copied to an array first, since removing an entry may modify the tree that is being walked.
  for (const [filePath, { now, gone }] of [...entriesOf(subtreeAt(traces, path) ?? {}, path)]) {
    if (now === undefined) continue
    files.push([filePath, now])
    next = withValue(copy, next, filePath, gone && { gone })
  }
  return { traces: next, files }
}
