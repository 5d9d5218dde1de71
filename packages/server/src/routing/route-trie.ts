/** What belongs to a path, where parts of it may be anything: `/v1/processes/{process}/logs`. */
export class RouteTrie<T> {
  readonly #root = new TrieNode<T>()

  /** What is at a path; the first to ask makes it. */
  at(path: string, make: () => T): T {
    const parts = path.split('/').slice(1)
    let place = this.#root
    for (const part of parts) place = place.below(part)
    place.found ??= { value: make(), names: parts.filter(isOpen).map((part) => part.slice(1, -1)) }
    return place.found.value
  }

  find(path: string): RouteMatch<T> | undefined {
    const values: string[] = []
    const found = this.#root.walk(path.split('/'), 1, values)
    if (found === undefined) return undefined
    const params: Record<string, string> = {}
    found.names.forEach((name, index) => {
      params[name] = decoded(values[index] ?? '')
    })
    return { value: found.value, params }
  }
}

export interface RouteMatch<T> {
  readonly value: T
  readonly params: Readonly<Record<string, string>>
}

class TrieNode<T> {
  found: { readonly value: T; readonly names: readonly string[] } | undefined
  readonly #fixed = new Map<string, TrieNode<T>>()
  #open: TrieNode<T> | undefined

  below(part: string): TrieNode<T> {
    if (isOpen(part)) {
      this.#open ??= new TrieNode()
      return this.#open
    }
    const known = this.#fixed.get(part) ?? new TrieNode<T>()
    this.#fixed.set(part, known)
    return known
  }

  /** What is written out comes before what may be anything; `values` are what the open parts were. */
  walk(parts: readonly string[], at: number, values: string[]): TrieNode<T>['found'] {
    const part = parts[at]
    if (part === undefined) return this.found
    const found = this.#fixed.get(part)?.walk(parts, at + 1, values)
    if (found !== undefined || this.#open === undefined || part === '') return found
    const before = values.length
    values.push(part)
    const other = this.#open.walk(parts, at + 1, values)
    if (other === undefined) values.length = before
    return other
  }
}

function isOpen(part: string): boolean {
  return part.startsWith('{')
}

function decoded(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
