import type * as z from 'zod/mini'

type Issue = z.core.$ZodIssue

/** The form of messages that our schemas define; any other message is zod's. */
const ownMessage = /^expected (.+)$/s

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The expected value of an issue, as text for an error message. */
export function expectation(issue: Issue): string {
  return joinAlternatives(alternatives(issue))
}

/** Each alternative that the schema accepts. */
export function alternatives(issue: Issue): readonly string[] {
  const own = ownMessage.exec(issue.message)?.[1]
  if (own !== undefined) return [own]
  switch (issue.code) {
    case 'invalid_type':
      return [typeNames[issue.expected] ?? issue.expected]
    case 'invalid_value':
      return issue.values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)))
    case 'too_small':
      return [`at least ${issue.minimum}`]
    case 'too_big':
      return [`at most ${issue.maximum}`]
    case 'invalid_format':
      return [`a string like ${issue.pattern ?? issue.format}`]
    case 'invalid_union':
      return [...new Set(issue.errors.flatMap(([first]) => (first === undefined ? [] : alternatives(first))))]
    case 'invalid_key':
      return issue.issues[0] === undefined ? ['another name'] : alternatives(issue.issues[0])
    default:
      return ['another value']
  }
}

function joinAlternatives(texts: readonly string[]): string {
  const last = texts.at(-1) ?? 'another value'
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(', ')} or ${last}`
}

/** The path of a field: `limits.archives`, `workspace.files["a b"]`, `events[0]`. */
export function fieldPath(start: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((before, key) => {
    if (typeof key === 'number') return `${before}[${key}]`
    const name = String(key)
    if (!/^[\w-]+$/.test(name)) return `${before}[${JSON.stringify(name.toWellFormed())}]`
    return before === '' ? name : `${before}.${name}`
  }, start)
}

/** The kind of a value; unlike the value itself it is safe in an error message. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return 'a string'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  )
}
