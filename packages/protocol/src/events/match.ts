/**
 * A test for event types: exact names, families (`file.*`), or `*`. No patterns means everything.
 *
 * @example
 * matchTypes(['file.*', 'turn.finished'])('file.moved') // true
 */
export function matchTypes(patterns: readonly string[] | undefined): (type: string) => boolean {
  if (patterns === undefined || patterns.includes('*')) return () => true
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.*')))
  const families = patterns.filter((pattern) => pattern.endsWith('.*')).map((pattern) => pattern.slice(0, -1))
  return (type) => exact.has(type) || families.some((family) => type.startsWith(family))
}
