interface Package {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The packages in an order in which each comes after those that it depends on. */
export function publishOrder<T extends Package>(packages: readonly T[]): T[] {
  const ordered: T[] = []
  let left = packages.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name))
    const ready = left.filter(
      ({ dependencies = {} }) => !Object.keys(dependencies).some((name) => waiting.has(name)),
    )
    if (ready.length === 0)
      throw new Error(`These packages depend on each other: ${[...waiting].join(', ')}.`)
    ordered.push(...ready)
    left = left.filter((one) => !ready.includes(one))
  }
  return ordered
}
