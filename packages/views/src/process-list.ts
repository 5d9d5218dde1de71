import { isGap, type JournalEvent, type Moment, type Outcome } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { byteLength } from './byte-length.ts'
import { type CopyOnWrite, copyOnWrite } from './copy-on-write.ts'
import { asFields, countIn, idIn, numberIn, omitUndefined, outcomeIn, textIn, textsIn } from './fields.ts'
import { gapMayContain } from './gaps.ts'
import { momentOf } from './moment.ts'
import type { View } from './view.ts'
import { type WideTable, wideEntryOf, wideValuesOf, withoutWideEntry, withWideEntry } from './wide-table.ts'

const streams = ['stdout', 'stderr', 'terminal'] as const

/** One process. Without `startedAt` its start event is missing. */
export interface ListedProcess {
  readonly id: string
  readonly state: 'running' | 'exited'
  readonly argv?: readonly string[]
  readonly cwd?: string
  readonly pid?: number
  readonly operation?: string
  readonly owner?: string
  readonly tty?: boolean
  /** How often it was started again. */
  readonly restarts?: number
  readonly startedAt?: Moment
  readonly endedAt?: Moment
  readonly outcome?: Outcome
  readonly exitCode?: number
  readonly signal?: string
  readonly durationMs?: number
  /** Bytes written to each stream. */
  readonly output: Readonly<Record<(typeof streams)[number], number>>
  /** Bytes of the output that are not in the journal because its limit was reached. */
  readonly skipped: number
}

/** Every known process. Read it with `listProcesses`. */
export interface ProcessList {
  readonly processes: WideTable<ListedProcess>
  /** Ids of exited processes in order of end. */
  readonly exited: readonly string[]
  /** Number of processes that were dropped to stay within the limit. */
  readonly dropped: number
  /** False once a gap may have hidden a start or an end. */
  readonly complete: boolean
}

export interface ProcessListOptions {
  /** Maximum number of exited processes, default 10,000. Those that ended first are dropped first. */
  readonly maxExited?: number
}

const types = ['process.started', 'process.exited']

/**
 * The processes of a journal, running and exited.
 *
 * @example
 * const list = rebuild(processListView(), events)
 * listProcesses(list).filter(({ state }) => state === 'running')
 */
export function processListView(options: ProcessListOptions = {}): View<ProcessList> {
  const maxExited = requireWholeNumber('maxExited', options.maxExited ?? 10_000, 0)
  return {
    empty: { processes: {}, exited: [], dropped: 0, complete: true },
    add(state, events) {
      const copy = copyOnWrite()
      let list = state
      for (const item of events) {
        if (isGap(item)) {
          if (list.complete && gapMayContain(item, types)) list = { ...list, complete: false }
        } else if (item.type === 'process.started') {
          list = started(copy, list, item)
        } else if (item.type === 'process.output') {
          list = addOutput(copy, list, item)
        } else if (item.type === 'process.exited') {
          list = exited(copy, list, item, maxExited)
        }
      }
      return list
    },
  }
}

/**
 * The processes in order of start; those whose start is missing come first.
 *
 * @example
 * listProcesses(list).map(({ argv, state }) => `${state} ${argv?.join(' ')}`)
 */
export function listProcesses(list: ProcessList): ListedProcess[] {
  return wideValuesOf(list.processes).sort(
    (a, b) => (a.startedAt?.seq ?? 0) - (b.startedAt?.seq ?? 0) || (a.id < b.id ? -1 : 1),
  )
}

/** A start after an end is a restart of the same process. */
function started(copy: CopyOnWrite, list: ProcessList, event: JournalEvent): ProcessList {
  const data = asFields(event.data)
  const id = idIn(data, 'process')
  if (id === undefined) return list
  const next = copy(list)
  if (wideEntryOf(list.processes, id)?.state === 'exited')
    next.exited = list.exited.filter((one) => one !== id)
  next.processes = withWideEntry(copy, list.processes, id, {
    ...firstSeen(id, event),
    ...omitUndefined({
      argv: textsIn(data, 'argv'),
      cwd: textIn(data, 'cwd'),
      pid: countIn(data, 'pid'),
      owner: idIn(data, 'owner'),
      tty: typeof data.tty === 'boolean' ? data.tty : undefined,
      restarts: countIn(data, 'restarts'),
    }),
    startedAt: momentOf(event),
  })
  return next
}

function addOutput(copy: CopyOnWrite, list: ProcessList, event: JournalEvent): ProcessList {
  const data = asFields(event.data)
  const id = idIn(data, 'process')
  const stream = streams.find((name) => name === data.stream)
  if (id === undefined || stream === undefined) return list
  const known = wideEntryOf(list.processes, id) ?? firstSeen(id, event)
  const next = copy(list)
  next.processes = withWideEntry(copy, list.processes, id, {
    ...known,
    // The offset includes trimmed and skipped bytes, so a missing chunk does not make the sum wrong.
    output: {
      ...known.output,
      [stream]: (countIn(data, 'offset') ?? known.output[stream]) + byteLength(data),
    },
    skipped: known.skipped + (countIn(data, 'skipped') ?? 0),
  })
  return next
}

function exited(copy: CopyOnWrite, list: ProcessList, event: JournalEvent, maxExited: number): ProcessList {
  const data = asFields(event.data)
  const id = idIn(data, 'process')
  if (id === undefined) return list
  const known = wideEntryOf(list.processes, id) ?? firstSeen(id, event)
  if (known.state === 'exited') return list
  const next = copy(list)
  const order = copy(list.exited)
  next.exited = order
  order.push(id)
  next.processes = withWideEntry(copy, list.processes, id, {
    ...known,
    ...omitUndefined({
      outcome: outcomeIn(data),
      exitCode: numberIn(data, 'exitCode'),
      signal: idIn(data, 'signal'),
      durationMs: numberIn(data, 'durationMs'),
    }),
    state: 'exited',
    endedAt: momentOf(event),
  })
  while (order.length > maxExited) {
    next.processes = withoutWideEntry(copy, next.processes, order.shift() ?? '')
    next.dropped += 1
  }
  return next
}

function firstSeen(id: string, event: JournalEvent): ListedProcess {
  return {
    id,
    state: 'running',
    ...omitUndefined({ operation: event.operation }),
    output: { stdout: 0, stderr: 0, terminal: 0 },
    skipped: 0,
  }
}
