import type * as z from 'zod/mini'
import { VitrineError } from '../errors/vitrine-error.ts'
import { alternatives, expectation, fieldPath, kindOf, valueAt } from '../expectation.ts'
import { refuseDroppedKeys } from './dropped-keys.ts'

type Issue = z.core.$ZodIssue

/**
 * Checks the options of a call. `undefined` is valid: the call has no options.
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
    throw invalidOptions(checked.error.issues, options, { root: `${call} options`, prefix: '' })
  refuseDroppedKeys('', options, checked.data)
}

/** Rejects a Map or a Set: a schema would accept it as an object without keys. */
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
 * Parses a named value, such as a body, a query or a manifest. Every path in an error begins with that name.
 */
export function parseAs<Schema extends z.ZodMiniType>(
  name: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const checked = schema.safeParse(value)
  if (checked.success) {
    refuseDroppedKeys(name, value, checked.data)
    return checked.data
  }
  throw invalidOptions(checked.error.issues, value, { root: name, prefix: name })
}

interface ErrorLocation {
  /** The name of the whole value. */
  readonly root: string
  /** The prefix of field paths. */
  readonly prefix: string
}

function invalidOptions(issues: readonly Issue[], value: unknown, location: ErrorLocation): VitrineError {
  const issue = innermost(mostSpecific(issues))
  const path = fieldPath(location.prefix, shownPath(issue.path))
  const received = issue.code === 'invalid_key' ? String(issue.path.at(-1)) : valueAt(value, issue.path)
  const message = issue.code === 'unrecognized_keys' ? issue.message : `${expected(issue, received)}.`
  return new VitrineError(
    'argument_invalid',
    `${path === location.prefix ? location.root : path}: ${message}`,
    {
      details: { path: path || location.root },
    },
  )
}

/** Reports an unknown key first: it is often a misspelt required key, which would be reported as missing. */
function mostSpecific(issues: readonly Issue[]): Issue {
  return issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!
}

/** For a union, the issue inside the alternative that the value matches best, if it matches any in part. */
function innermost(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const [nearest] = issue.errors
    .filter((errors) => errors.length > 0 && errors.every(isInside))
    .toSorted((one, other) => one.length - other.length)
  if (nearest === undefined) return issue
  const found = innermost(mostSpecific(nearest))
  return { ...found, path: [...issue.path, ...found.path] }
}

function isInside({ path, code }: Issue): boolean {
  return path.length > 0 || code === 'unrecognized_keys'
}

function expected(issue: Issue, value: unknown): string {
  const message = `expected ${expectation(issue)}, got ${describeValue(issue, value)}`
  if (typeof value !== 'string') return message
  const forms = alternatives(issue)
  if (/^\s*-?\d/.test(value) && forms.some((form) => /\bnumber\b/.test(form)) && isNumber(issue))
    return `${message}; give it as a number`
  if (/^(true|false)$/i.test(value) && forms.includes('true or false'))
    return `${message}; leave out the quotes`
  return message
}

/** Whether the schema expects a number, not a string of digits. */
function isNumber(issue: Issue): boolean {
  if (issue.code === 'invalid_union')
    return issue.errors.some(([first]) => first !== undefined && isNumber(first))
  return issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int')
}

const shownText = 60
/** Fields whose values may contain a secret: a URL with a password, an argument with a token. */
const secret =
  /^(env|variables|headers?|content|stdin|input|data|url|args|command|prompt|modelEndpoint|mcpServers)$|credential|token|key|secret|passw|auth|cookie/i

function mayBeSecret(path: readonly PropertyKey[]): boolean {
  return path.some((key) => secret.test(String(key)))
}

/** `KEY=value` is the name of no variable: its value is left out. */
function nameOnly(key: string): string {
  const name = key.split(/[=:]/, 1)[0]!.slice(0, shownText)
  return name === key ? key : `${name}…`
}

function shownPath(path: readonly PropertyKey[]): PropertyKey[] {
  return path.map((key, index) =>
    typeof key === 'string' && mayBeSecret(path.slice(0, index)) ? nameOnly(key) : key,
  )
}

function describeValue(issue: Issue, value: unknown): string {
  if (typeof value === 'number' && issue.path.at(-1) === 'mode' && value >= 0) return `0o${value.toString(8)}`
  const hidden = mayBeSecret(issue.path)
  if (typeof value === 'number' || typeof value === 'boolean') return hidden ? kindOf(value) : String(value)
  if (typeof value !== 'string') return kindOf(value)
  // A URL may contain a password.
  if (hidden || value.includes('://') || value.length > shownText)
    return value === '' ? 'an empty string' : 'a string'
  const shown = JSON.stringify(value.toWellFormed())
  const wantsText = issue.code !== 'invalid_type' && issue.code !== 'invalid_union'
  return wantsText ? shown : `${shown}, a string`
}
