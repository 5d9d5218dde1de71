import type { JsonCopy } from './copy.ts'

/** A text inside a value. */
export interface Leaf {
  readonly text: string
  /** Whether the value says that it is bytes: `data` beside `encoding: 'base64'`. */
  readonly isBase64: boolean
  /** Where it stands: equal in two values exactly when the keys on the way are. */
  readonly path: string
  /** Puts another text in its place. */
  put(text: string): void
}

/** Visits every text inside the value that `root` holds, in the order of its keys. */
export function visitLeaves(root: { value: JsonCopy }, visit: (leaf: Leaf) => void): void {
  visitItem(root.value, '', false, visit, (text) => {
    root.value = text
  })
}

function visitItem(
  item: JsonCopy,
  path: string,
  isBase64: boolean,
  visit: (leaf: Leaf) => void,
  put: (text: string) => void,
): void {
  if (typeof item === 'string') visit({ text: item, isBase64, path, put })
  else if (Array.isArray(item)) {
    for (const [index, inner] of item.entries()) {
      visitItem(inner, step(path, String(index)), false, visit, (text) => {
        item[index] = text
      })
    }
  } else if (typeof item === 'object' && item !== null) {
    const isEncoded = item.encoding === 'base64'
    for (const key of Object.keys(item)) {
      visitItem(item[key] ?? null, step(path, key), isEncoded && key === 'data', visit, (text) => {
        item[key] = text
      })
    }
  }
}

/** With its length before it, a key cannot pass for several. */
function step(path: string, key: string): string {
  return `${path}${key.length}:${key}`
}
