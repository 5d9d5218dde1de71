import { wideEntryOf, wideValuesOf } from '../wide-table.ts'
import type { OperationNode, OperationTree } from './operation-tree.ts'

export interface OperationRow {
  readonly operation: OperationNode
  readonly depth: number
}

/**
 * The operations without a known parent, in order of start.
 *
 * @example
 * operationRoots(tree).map((operation) => operation.op) // ['exec', 'write']
 */
export function operationRoots(tree: OperationTree): OperationNode[] {
  return wideValuesOf(tree.operations)
    .filter(({ parent }) => parent === undefined || wideEntryOf(tree.operations, parent) === undefined)
    .sort((a, b) => firstSeq(a) - firstSeq(b) || (a.id < b.id ? -1 : 1))
}

/**
 * The operations directly below one, in order of start.
 *
 * @example
 * operationChildren(tree, 'op_1').map((operation) => operation.op) // ['read', 'write']
 */
export function operationChildren(tree: OperationTree, id: string): OperationNode[] {
  return (wideEntryOf(tree.children, id) ?? []).flatMap((child) => wideEntryOf(tree.operations, child) ?? [])
}

/**
 * The whole tree as rows from top to bottom, each with its depth.
 *
 * @example
 * operationRows(tree).map(({ operation, depth }) => '  '.repeat(depth) + operation.op).join('\n')
 */
export function operationRows(tree: OperationTree): OperationRow[] {
  const rows: OperationRow[] = []
  const pending = rowsOf(operationRoots(tree), 0)
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    rows.push(row)
    for (const child of rowsOf(operationChildren(tree, row.operation.id), row.depth + 1)) pending.push(child)
  }
  return rows
}

/** In reverse order, since they are taken from the end. */
function rowsOf(operations: OperationNode[], depth: number): OperationRow[] {
  return operations.reverse().map((operation) => ({ operation, depth }))
}

function firstSeq(operation: OperationNode): number {
  return (operation.startedAt ?? operation.endedAt)?.seq ?? 0
}
