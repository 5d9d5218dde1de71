import { isGap, type JournalEvent, type Moment, type Outcome } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { type CopyOnWrite, copyOnWrite } from '../copy-on-write.ts'
import { asFields, type Fields, idIn, numberIn, omitUndefined, outcomeIn, textIn } from '../fields.ts'
import { gapMayContain } from '../gaps.ts'
import { momentOf } from '../moment.ts'
import { subjectOf } from '../subject.ts'
import { cut } from '../text/cut.ts'
import type { View } from '../view.ts'
import { type WideTable, wideEntryOf, withWideEntry } from '../wide-table.ts'
import { withoutOldest, withoutStaleEnds } from './drop-oldest.ts'

/** One operation. It is open without `endedAt`; without `startedAt` its start event is missing. */
export interface OperationNode {
  readonly id: string
  readonly op: string
  /** Its command, path or port, cut to one line. */
  readonly subject?: string
  readonly parent?: string
  readonly startedAt?: Moment
  readonly endedAt?: Moment
  readonly outcome?: Outcome
  readonly durationMs?: number
  readonly exitCode?: number
  readonly signal?: string
  readonly errorCode?: string
}

/** Every known operation. Read it with `operationRoots`, `operationChildren` and `operationRows`. */
export interface OperationTree {
  readonly operations: WideTable<OperationNode>
  /** Ids by their parent's id, in order of start; the parent itself may be unknown or already dropped. */
  readonly children: WideTable<readonly string[]>
  /** Ids in order of end. May contain ids of dropped operations. */
  readonly ended: readonly string[]
  /** Number of finished operations in the tree. */
  readonly finished: number
  /** Number of operations that were dropped to stay within the limit. */
  readonly dropped: number
  /** False once a gap may have hidden operations. */
  readonly complete: boolean
}

export interface OperationTreeOptions {
  /** Maximum number of finished operations, default 10,000. The oldest trees are dropped first. */
  readonly maxFinished?: number
}

const types = ['operation.started', 'operation.finished']

/** A deeper operation counts as a root, which also breaks cycles. */
const maxDepth = 256
const maxSubject = 256

/**
 * The operations of a journal as a tree.
 *
 * @example
 * const tree = rebuild(operationTreeView(), events)
 * for (const { operation, depth } of operationRows(tree)) show(depth, operation.op, operation.outcome)
 */
export function operationTreeView(options: OperationTreeOptions = {}): View<OperationTree> {
  const maxFinished = requireWholeNumber('maxFinished', options.maxFinished ?? 10_000, 0)
  return {
    empty: { operations: {}, children: {}, ended: [], finished: 0, dropped: 0, complete: true },
    add(state, events) {
      const copy = copyOnWrite()
      let tree = state
      for (const item of events) {
        if (isGap(item)) {
          if (tree.complete && gapMayContain(item, types)) tree = { ...tree, complete: false }
        } else if (item.type === 'operation.started') {
          tree = started(copy, tree, item)
        } else if (item.type === 'operation.finished') {
          tree = finished(copy, tree, item)
          while (tree.finished > maxFinished) tree = withoutOldest(copy, tree)
          if (tree.ended.length > 2 * maxFinished) tree = withoutStaleEnds(tree)
        }
      }
      return tree
    },
  }
}

function started(copy: CopyOnWrite, tree: OperationTree, event: JournalEvent): OperationTree {
  const id = event.operation
  if (!id || wideEntryOf(tree.operations, id) !== undefined) return tree
  return withOperation(copy, tree, { ...firstSeen(tree, id, event), startedAt: momentOf(event) })
}

function finished(copy: CopyOnWrite, tree: OperationTree, event: JournalEvent): OperationTree {
  const id = event.operation
  if (!id) return tree
  const known = wideEntryOf(tree.operations, id)
  if (known?.endedAt !== undefined) return tree
  const next = copy(
    withOperation(copy, tree, {
      ...(known ?? firstSeen(tree, id, event)),
      ...endOf(asFields(event.data)),
      endedAt: momentOf(event),
    }),
  )
  const ended = copy(next.ended)
  ended.push(id)
  next.ended = ended
  next.finished += 1
  return next
}

function firstSeen(tree: OperationTree, id: string, event: JournalEvent): OperationNode {
  const data = asFields(event.data)
  const parent = idIn(data, 'parent')
  const subject = subjectOf(data)
  return {
    id,
    op: textIn(data, 'op') ?? '',
    ...(subject !== undefined && { subject: cut(subject, maxSubject) }),
    ...(parent !== undefined && canBelong(tree, id, parent) && { parent }),
  }
}

function endOf(data: Fields) {
  return omitUndefined({
    outcome: outcomeIn(data),
    durationMs: numberIn(data, 'durationMs'),
    exitCode: numberIn(data, 'exitCode'),
    signal: idIn(data, 'signal'),
    errorCode: idIn(data, 'errorCode'),
  })
}

function canBelong(tree: OperationTree, id: string, parent: string): boolean {
  let above: string | undefined = parent
  for (let depth = 0; depth < maxDepth; depth += 1) {
    if (above === undefined) return true
    if (above === id) return false
    above = wideEntryOf(tree.operations, above)?.parent
  }
  return false
}

function withOperation(copy: CopyOnWrite, tree: OperationTree, operation: OperationNode): OperationTree {
  const { id, parent } = operation
  const next = copy(tree)
  if (parent !== undefined && wideEntryOf(tree.operations, id) === undefined) {
    const siblings = copy(wideEntryOf(tree.children, parent) ?? [])
    siblings.push(id)
    next.children = withWideEntry(copy, tree.children, parent, siblings)
  }
  next.operations = withWideEntry(copy, tree.operations, id, operation)
  return next
}
