import type { FileKind } from '@vitrine/protocol'
import type { CopyOnce } from '../copy-once.ts'
import { present } from '../fields.ts'
import { entryOf } from '../table.ts'
import type { FileChange } from './file-change.ts'
import { entriesOf, namesOf, type PathTree, subtreeAt, valueAt, withValue } from './path-tree.ts'

// A file is traced by identity, as an inode would be: `now` is what is at a path, `origin` where that was at
// the start, and `gone` what was at a path at the start and is nowhere any more. The net effect per path is
// read off these two.

interface FileNow {
  /** Its path at the start; absent for what did not exist then. */
  readonly origin?: string
  /** Its content was written, not only its path changed. */
  readonly written?: true
  readonly kind: FileKind
  readonly size?: number
  readonly before?: string
  readonly after?: string
  readonly redacted?: true
  /** The last event about it. */
  readonly seq: number
}

interface FileGone {
  readonly kind: FileKind
  readonly before?: string
  readonly redacted?: true
  readonly seq: number
}

export interface FileTrace {
  readonly now?: FileNow
  readonly gone?: FileGone
}

export type FileTraces = PathTree<FileTrace>

export function created(copy: CopyOnce, traces: FileTraces, change: FileChange): FileTraces {
  return withWritten(copy, traces, change, valueAt(traces, change.path)?.now?.origin)
}

/** A change of what no event spoke of yet is one of a file that existed at the start. */
export function changed(copy: CopyOnce, traces: FileTraces, change: FileChange): FileTraces {
  const known = valueAt(traces, change.path)?.now
  return withWritten(copy, traces, change, known ? known.origin : originAt(traces, change.path))
}

/** Takes with it what is known below: a directory that is gone holds nothing. */
export function deleted(copy: CopyOnce, traces: FileTraces, change: FileChange): FileTraces {
  const { path, kind, before, redacted, seq } = change
  const origin = valueAt(traces, path)?.now ? undefined : originAt(traces, path)
  const next = withoutAll(copy, traces, path, { seq, before })
  return origin === undefined
    ? next
    : withGone(copy, next, origin, { kind, seq, ...present({ before, redacted }) })
}

/**
 * Takes with it what is known below, and replaces what was at the new path. What is below the new path of a directory
 * stays: its entries have moved there before it, each with an event of its own.
 */
export function moved(copy: CopyOnce, traces: FileTraces, change: FileChange, from: string): FileTraces {
  const { path, kind, size, after, seq } = change
  if (from === path) return traces
  const known = valueAt(traces, from)?.now
  const origin = known ? known.origin : originAt(traces, from)
  const self: FileNow = {
    ...known,
    ...present({ origin, size, after, before: firstBefore(known, origin, change) }),
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
  copy: CopyOnce,
  traces: FileTraces,
  change: FileChange,
  origin: string | undefined,
): FileTraces {
  const { path, kind, size, after, seq } = change
  const known = valueAt(traces, path)?.now
  // A size or after-image that this event does not give is not that of an earlier one.
  return withNow(copy, traces, path, {
    ...present({ origin, size, after, before: firstBefore(known, origin, change) }),
    ...redactedOf(known, change),
    written: true,
    kind,
    seq,
  })
}

/** The first `before` stays; what was only moved so far may still get one. */
function firstBefore(
  known: FileNow | undefined,
  origin: string | undefined,
  change: FileChange,
): string | undefined {
  if (origin === undefined) return undefined
  return known?.written ? known.before : (known?.before ?? change.before)
}

function redactedOf(known: FileNow | undefined, change: FileChange): { readonly redacted?: true } {
  return known?.redacted || change.redacted ? { redacted: true } : {}
}

/** Where what is at a path was at the start, as far as the moves of its directories tell. */
function impliedOrigin(traces: FileTraces, path: string): string | undefined {
  const [first = '', ...rest] = namesOf(path)
  let origin: string | undefined = first
  let node = entryOf(traces.below ?? {}, first)
  for (const name of rest) {
    const directory: FileNow | undefined = node?.value?.now
    if (directory) origin = directory.origin
    if (origin !== undefined) origin = `${origin}/${name}`
    node = node && entryOf(node.below ?? {}, name)
  }
  return origin
}

function originAt(traces: FileTraces, path: string): string | undefined {
  const origin = impliedOrigin(traces, path)
  // What is gone does not come back: this must be something else.
  return origin === undefined || valueAt(traces, origin)?.gone ? undefined : origin
}

function withNow(copy: CopyOnce, traces: FileTraces, path: string, now: FileNow): FileTraces {
  return withValue(copy, traces, path, { ...valueAt(traces, path), now })
}

/** What is back where it was, as it was, needs no trace. */
function withMoved(copy: CopyOnce, traces: FileTraces, path: string, now: FileNow): FileTraces {
  const back = !now.written && now.origin !== undefined && now.origin === impliedOrigin(traces, path)
  return back ? traces : withNow(copy, traces, path, now)
}

function withGone(copy: CopyOnce, traces: FileTraces, path: string, gone: FileGone): FileTraces {
  const known = valueAt(traces, path)
  return known?.gone ? traces : withValue(copy, traces, path, { ...known, gone })
}

interface LastState {
  readonly seq: number
  /** The content of what is at the path itself, where the ending tells it. */
  readonly before?: string | undefined
}

function withoutAll(copy: CopyOnce, traces: FileTraces, path: string, ending: LastState): FileTraces {
  const taken = takeAll(copy, traces, path)
  return withEnded(copy, taken.traces, taken.files, path, ending)
}

/** What is at the path itself, and not what is below it. */
function withoutOne(copy: CopyOnce, traces: FileTraces, path: string, ending: LastState): FileTraces {
  const { now, gone } = valueAt(traces, path) ?? {}
  if (now === undefined) return traces
  return withEnded(copy, withValue(copy, traces, path, gone && { gone }), [[path, now]], path, ending)
}

function withEnded(
  copy: CopyOnce,
  traces: FileTraces,
  files: readonly (readonly [path: string, now: FileNow])[],
  path: string,
  ending: LastState,
): FileTraces {
  let next = traces
  for (const [place, { origin, written, kind, redacted, ...now }] of files) {
    if (origin === undefined) continue
    const before = now.before ?? (place === path && !written ? ending.before : undefined)
    next = withGone(copy, next, origin, { kind, seq: ending.seq, ...present({ before, redacted }) })
  }
  return next
}

/** Takes out what is at a path and below it now. */
function takeAll(copy: CopyOnce, traces: FileTraces, path: string) {
  const files: [path: string, now: FileNow][] = []
  let next = traces
  // Listed first: taking one out may write to the very tree that is being walked.
  for (const [place, { now, gone }] of [...entriesOf(subtreeAt(traces, path) ?? {}, path)]) {
    if (now === undefined) continue
    files.push([place, now])
    next = withValue(copy, next, place, gone && { gone })
  }
  return { traces: next, files }
}
