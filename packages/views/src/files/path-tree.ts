import type { CopyOnWrite } from '../copy-on-write.ts'
import { entryOf, type Table, withEntry, withoutEntry } from '../table.ts'

/** The value of one path, and the subtrees below it by name. Empty nodes are removed. */
export interface ChangedPathTree<Value> {
  readonly value?: Value
  readonly below?: Table<ChangedPathTree<Value>>
  /** The number of names in `below`; counting them each time would make emptying a large directory slow. */
  readonly names?: number
}

/** Below this depth the rest of a path is one name, since deeper nesting could overflow a reader's stack. */
const maxDepth = 256

export function namesOf(path: string): readonly string[] {
  const names = path.split('/')
  return names.length <= maxDepth
    ? names
    : [...names.slice(0, maxDepth - 1), names.slice(maxDepth - 1).join('/')]
}

export function subtreeAt<Value>(
  tree: ChangedPathTree<Value>,
  path: string,
): ChangedPathTree<Value> | undefined {
  let node: ChangedPathTree<Value> | undefined = tree
  for (const name of namesOf(path)) node = node?.below && entryOf(node.below, name)
  return node
}

export function valueAt<Value>(tree: ChangedPathTree<Value>, path: string): Value | undefined {
  return subtreeAt(tree, path)?.value
}

/** The tree with this value at the path; `undefined` removes the value. */
export function withValue<Value>(
  copy: CopyOnWrite,
  tree: ChangedPathTree<Value>,
  path: string,
  value: Value | undefined,
): ChangedPathTree<Value> {
  return withValueAt(copy, tree, namesOf(path), 0, value)
}

function withValueAt<Value>(
  copy: CopyOnWrite,
  node: ChangedPathTree<Value>,
  names: readonly string[],
  depth: number,
  value: Value | undefined,
): ChangedPathTree<Value> {
  const name = names[depth]
  const next = copy(node)
  if (name === undefined) {
    if (value === undefined) delete next.value
    else next.value = value
    return next
  }
  const known = entryOf(node.below ?? {}, name)
  const child = withValueAt(copy, known ?? {}, names, depth + 1, value)
  return withChild(copy, node, name, child)
}

function withChild<Value>(
  copy: CopyOnWrite,
  node: ChangedPathTree<Value>,
  name: string,
  child: ChangedPathTree<Value>,
): ChangedPathTree<Value> {
  const { below = {}, names = 0 } = node
  const before = Object.hasOwn(below, name) ? 1 : 0
  const after = child.value === undefined && child.below === undefined ? 0 : 1
  const next = copy(node)
  if (names + after - before === 0) {
    delete next.below
    delete next.names
    return next
  }
  next.below = after ? withEntry(copy, below, name, child) : withoutEntry(copy, below, name)
  next.names = names + after - before
  return next
}

/** Every path with a value, sorted by name, a directory before its entries. */
export function* entriesOf<Value>(node: ChangedPathTree<Value>, path: string): Generator<[string, Value]> {
  if (node.value !== undefined) yield [path, node.value]
  yield* entriesBelow(node, `${path}/`)
}

export function* entriesBelow<Value>(
  node: ChangedPathTree<Value>,
  prefix: string,
): Generator<[string, Value]> {
  const below = node.below ?? {}
  for (const name of Object.keys(below).sort()) {
    const child = entryOf(below, name)
    if (child !== undefined) yield* entriesOf(child, prefix + name)
  }
}
