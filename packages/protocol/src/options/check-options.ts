import type * as z from 'zod/mini'
import { VitrineError } from '../errors/vitrine-error.ts'
import { alternatives, expectation, fieldPath, kindOf, valueAt } from '../expectation.ts'

type Issue = z.core.$ZodIssue

/**
 * Checks the options of a call. What was not given needs no check.
 *
 * @example
 * checkOptions('exec', processOptions.exec, { timeout: 5 })
 * // throws: exec options: unknown key "timeout"; did you mean "timeoutMs"? Known keys: …
 */
export function checkOptions(call: string, schema: z.ZodMiniType, options: unknown): void {
  if (options === undefined) return
  refuseCollections(call, options)
  const checked = schema.safeParse(options)
  if (!checked.success)
    throw invalidOptions(checked.error.issues, options, { root: `${call} options`, at: '' })
}

/** A Map or a Set has no keys of its own, so that a schema would take it for an object without any. */
function refuseCollections(call: string, options: unknown): void {
  if (isCollection(options)) throw notAnObject(`${call} options`, options)
  for (const [name, value] of Object.entries(options ?? {}))
    if (isCollection(value)) throw notAnObject(name, value)
}

function isCollection(value: unknown): value is object {
  return value instanceof Map || value instanceof Set
}

function notAnObject(path: string, value: object): VitrineError {
  const message = `${path}: expected a plain object, got a ${value.constructor.name}.`
  return new VitrineError('argument_invalid', message, { details: { path } })
}

/**
 * What a schema makes of a value that has a name of its own: a body, a query, a manifest. Every path in an error begins
 * with that name.
 */
export function parseAs<Schema extends z.ZodMiniType>(
  name: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  throw invalidOptions(checked.error.issues, value, { root: name, at: name })
}

interface Where {
  /** What the whole value is called. */
  readonly root: string
  /** What paths begin with. */
  readonly at: string
}

function invalidOptions(issues: readonly Issue[], value: unknown, where: Where): VitrineError {
  const issue = innermost(mostTelling(issues))
  const path = fieldPath(where.at, issue.path)
  const came = issue.code === 'invalid_key' ? String(issue.path.at(-1)) : valueAt(value, issue.path)
  const message = issue.code === 'unrecognized_keys' ? issue.message : `${expected(issue, came)}.`
  return new VitrineError('argument_invalid', `${path === where.at ? where.root : path}: ${message}`, {
    details: { path: path || where.root },
  })
}

/** A misspelt key is the reason why another one is missing. */
function mostTelling(issues: readonly Issue[]): Issue {
  return issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!
}

/** Of several forms the one that the value was meant to have, if it has anything of it. */
function innermost(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const [nearest] = issue.errors
    .filter((errors) => errors.length > 0 && errors.every(isInside))
    .toSorted((one, other) => one.length - other.length)
  if (nearest === undefined) return issue
  const found = innermost(mostTelling(nearest))
  return { ...found, path: [...issue.path, ...found.path] }
}

function isInside({ path, code }: Issue): boolean {
  return path.length > 0 || code === 'unrecognized_keys'
}

function expected(issue: Issue, value: unknown): string {
  const wanted = `expected ${expectation(issue)}, got ${given(issue, value)}`
  if (typeof value !== 'string') return wanted
  const forms = alternatives(issue)
  if (/^\s*-?\d/.test(value) && forms.some((form) => /\bnumber\b/.test(form)) && isNumber(issue))
    return `${wanted}; give it as a number`
  if (/^(true|false)$/i.test(value) && forms.includes('true or false'))
    return `${wanted}; leave out the quotes`
  return wanted
}

/** Whether a number was wanted, not a text with digits in it. */
function isNumber(issue: Issue): boolean {
  if (issue.code === 'invalid_union')
    return issue.errors.some(([first]) => first !== undefined && isNumber(first))
  return issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int')
}

const shownText = 60
/** Fields whose values are secret, or may hold a secret: an address with a password, an argument with a token. */
const secret =
  /^(env|headers|content|stdin|data|url|args|command|modelEndpoint|mcpServers)$|credential|token|key|secret|password/i

function given(issue: Issue, value: unknown): string {
  if (typeof value === 'number' && issue.path.at(-1) === 'mode' && value >= 0) return `0o${value.toString(8)}`
  const hidden = issue.path.some((key) => secret.test(String(key)))
  if (typeof value === 'number' || typeof value === 'boolean') return hidden ? kindOf(value) : String(value)
  if (typeof value !== 'string') return kindOf(value)
  // An address may hold a password.
  if (hidden || value.includes('://') || value.length > shownText)
    return value === '' ? 'an empty text' : 'a text'
  const shown = JSON.stringify(value.toWellFormed())
  const wantsText = issue.code !== 'invalid_type' && issue.code !== 'invalid_union'
  return wantsText ? shown : `${shown}, a text`
}
