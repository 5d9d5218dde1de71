import type { CopyOnWrite } from '../copy-on-write.ts'
import { wideEntryOf, withoutWideEntry, withWideEntry } from '../wide-table.ts'
import type { OperationNode, OperationTree } from './operation-tree.ts'
import { operationChildren } from './rows.ts'

/** Drops the tree of the operation that ended first, except open operations, which become roots. */
export function withoutOldest(copy: CopyOnWrite, tree: OperationTree): OperationTree {
  const next = copy(tree)
  const ended = copy(tree.ended)
  next.ended = ended
  const oldest = wideEntryOf(tree.operations, ended.shift() ?? '')
  if (oldest?.endedAt === undefined) return next

  const top = topmostEnded(tree, oldest)
  next.children = withoutChild(copy, next.children, top)
  const pending = [top]
  for (let operation = pending.pop(); operation !== undefined; operation = pending.pop()) {
    const below = operationChildren(next, operation.id)
    pending.push(...below.filter((child) => child.endedAt !== undefined))
    const open = below.filter((child) => child.endedAt === undefined).map((child) => child.id)
    next.children = withChildren(copy, next.children, operation.id, open)
    next.operations = withoutWideEntry(copy, next.operations, operation.id)
    next.finished -= 1
    next.dropped += 1
  }
  return next
}

/** Removes ids from `ended` that were dropped together with their root. */
export function withoutStaleEnds(tree: OperationTree): OperationTree {
  return {
    ...tree,
    ended: tree.ended.filter((id) => wideEntryOf(tree.operations, id)?.endedAt !== undefined),
  }
}

/** The highest ancestor up to which all operations have ended. */
function topmostEnded(tree: OperationTree, operation: OperationNode): OperationNode {
  let top = operation
  for (;;) {
    const above = top.parent === undefined ? undefined : wideEntryOf(tree.operations, top.parent)
    if (above?.endedAt === undefined) return top
    top = above
  }
}

type Children = OperationTree['children']

function withoutChild(copy: CopyOnWrite, children: Children, { id, parent }: OperationNode): Children {
  const siblings = parent === undefined ? undefined : wideEntryOf(children, parent)
  if (parent === undefined || siblings === undefined) return children
  const rest = copy(siblings)
  rest.splice(rest.indexOf(id), 1)
  return withChildren(copy, children, parent, rest)
}

function withChildren(copy: CopyOnWrite, children: Children, id: string, ids: readonly string[]): Children {
  return ids.length === 0 ? withoutWideEntry(copy, children, id) : withWideEntry(copy, children, id, ids)
}
