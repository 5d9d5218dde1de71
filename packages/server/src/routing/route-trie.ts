/** Maps paths with parameters, such as `/v1/processes/{process}/logs`, to values. */
export class RouteTrie<T> {
  readonly #root = new TrieNode<T>()

  /** Returns the value of a path; creates it on the first call. */
  at(path: string, make: () => T): T {
    const parts = path.split('/').slice(1)
    let node = this.#root
    for (const part of parts) node = node.child(part)
    node.route ??= { value: make(), names: parts.filter(isParameter).map((part) => part.slice(1, -1)) }
    return node.route.value
  }

  find(path: string): RouteMatch<T> | undefined {
    const values: string[] = []
    const match = this.#root.walk(path.split('/'), 1, values)
    if (match === undefined) return undefined
    const params: Record<string, string> = {}
    match.names.forEach((name, index) => {
      params[name] = decoded(values[index] ?? '')
    })
    return { value: match.value, params }
  }
}

export interface RouteMatch<T> {
  readonly value: T
  readonly params: Readonly<Record<string, string>>
}

class TrieNode<T> {
  route: { readonly value: T; readonly names: readonly string[] } | undefined
  readonly #literals = new Map<string, TrieNode<T>>()
  #parameter: TrieNode<T> | undefined

  child(part: string): TrieNode<T> {
    if (isParameter(part)) {
      this.#parameter ??= new TrieNode()
      return this.#parameter
    }
    const known = this.#literals.get(part) ?? new TrieNode<T>()
    this.#literals.set(part, known)
    return known
  }

  /** Finds a route; literal segments win over parameters. Collects the parameters' segments in `values`. */
  walk(parts: readonly string[], at: number, values: string[]): TrieNode<T>['route'] {
    const part = parts[at]
    if (part === undefined) return this.route
    const found = this.#literals.get(part)?.walk(parts, at + 1, values)
    if (found !== undefined || this.#parameter === undefined || part === '') return found
    const before = values.length
    values.push(part)
    const other = this.#parameter.walk(parts, at + 1, values)
    if (other === undefined) values.length = before
    return other
  }
}

function isParameter(part: string): boolean {
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
