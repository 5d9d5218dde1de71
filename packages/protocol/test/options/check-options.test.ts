import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { isVitrineError } from '../../src/index.ts'
import { checkOptions, parseAs, strict } from '../../src/options/index.ts'
import { textsByName, whole } from '../../src/options/values.ts'

const schema = strict({
  timeoutMs: z.optional(whole(1)),
  port: z.optional(whole(1, 65_535)),
  append: z.optional(z.boolean()),
  depth: z.optional(z.union([whole(1), z.literal('full')])),
  permissions: z.optional(
    z.union([z.enum(['ask', 'allow']), strict({ default: z.optional(z.enum(['ask', 'allow'])) })]),
  ),
  env: z.optional(textsByName()),
  credentials: z.optional(
    strict({ token: z.string().check(z.minLength(4, 'expected 4 characters or more')) }),
  ),
  items: z.optional(z.array(strict({ path: z.string() }))),
})

function refusalOf(options: unknown): { readonly message: string; readonly path: unknown } {
  try {
    checkOptions('exec', schema, options)
  } catch (error) {
    if (isVitrineError(error) && error.code === 'argument_invalid')
      return { message: error.message, path: error.details.path }
    throw error
  }
  throw new Error('Expected a refusal, but the options passed.')
}

it.each([
  [new Map([['timeoutMs', 5]]), 'exec options: expected a plain object, got a Map.'],
  [{ credentials: new Map([['token', 'abcd']]) }, 'credentials: expected a plain object, got a Map.'],
  [{ permissions: new Set() }, 'permissions: expected a plain object, got a Set.'],
])('checkOptions refuses a Map or a Set instead of an object', (options, message) => {
  expect(refusalOf(options).message).toBe(message)
})

const known = 'Known keys: timeoutMs, port, append, depth, permissions, env, credentials, items.'

describe('checkOptions for invalid options', () => {
  it.each<[unknown, string, string]>([
    [
      { timeout: 5 },
      `exec options: unknown key "timeout"; did you mean "timeoutMs"? ${known}`,
      'exec options',
    ],
    [{ colour: 5 }, `exec options: unknown key "colour". ${known}`, 'exec options'],
    [
      { token: 5 },
      `exec options: unknown key "token"; did you mean "credentials.token"? ${known}`,
      'exec options',
    ],
    [
      { timeoutMs: '300' },
      'timeoutMs: expected a whole number of at least 1, got "300", a string; give it as a number.',
      'timeoutMs',
    ],
    [{ timeoutMs: 0 }, 'timeoutMs: expected a whole number of at least 1, got 0.', 'timeoutMs'],
    [{ timeoutMs: 1.5 }, 'timeoutMs: expected a whole number of at least 1, got 1.5.', 'timeoutMs'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs: expected a whole number of at least 1, got NaN.', 'timeoutMs'],
    [{ timeoutMs: null }, 'timeoutMs: expected a whole number of at least 1, got null.', 'timeoutMs'],
    [{ port: 70_000 }, 'port: expected a whole number from 1 to 65535, got 70000.', 'port'],
    [
      { append: 'true' },
      'append: expected true or false, got "true", a string; leave out the quotes.',
      'append',
    ],
    [
      { depth: 'all' },
      'depth: expected a whole number of at least 1 or "full", got "all", a string.',
      'depth',
    ],
    [
      { depth: '3' },
      'depth: expected a whole number of at least 1 or "full", got "3", a string; give it as a number.',
      'depth',
    ],
    [
      { permissions: 'alow' },
      'permissions: expected "ask", "allow" or an object, got "alow", a string.',
      'permissions',
    ],
    [
      { permissions: { default: 'no' } },
      'permissions.default: expected "ask" or "allow", got "no".',
      'permissions.default',
    ],
    [
      { permissions: { defualt: 'ask' } },
      'permissions: unknown key "defualt"; did you mean "default"? Known keys: default.',
      'permissions',
    ],
    [{ items: [{ path: 'a' }, { path: 5 }] }, 'items[1].path: expected a string, got 5.', 'items[1].path'],
    [
      { items: [{ paht: 'a' }] },
      'items[0]: unknown key "paht"; did you mean "path"? Known keys: path.',
      'items[0]',
    ],
    [{ env: { 'A B': 5 } }, 'env["A B"]: expected a string, got a number.', 'env["A B"]'],
    [null, 'exec options: expected an object, got null.', 'exec options'],
    [[], 'exec options: expected an object, got an array.', 'exec options'],
    ['x', 'exec options: expected an object, got "x", a string.', 'exec options'],
  ])('names the field, the expected and the received value: %j', (options, message, path) => {
    expect(refusalOf(options)).toEqual({ message, path })
  })

  it('does not repeat a secret or a long string', () => {
    expect(refusalOf({ credentials: { token: 'abc' } }).message).toBe(
      'credentials.token: expected 4 characters or more, got a string.',
    )
    expect(refusalOf({ credentials: { token: 123456 } }).message).toBe(
      'credentials.token: expected a string, got a number.',
    )
    expect(refusalOf({ permissions: 'https://me:hunter2@host' }).message).not.toContain('hunter2')
    expect(refusalOf({ env: { PIN: 1234 } }).message).toBe('env.PIN: expected a string, got a number.')
    expect(refusalOf({ env: 'SECRET=hunter2' }).message).toBe('env: expected an object, got a string.')
    expect(refusalOf({ timeoutMs: 'x'.repeat(100) }).message).not.toContain('xxx')
  })

  it('cuts a long key and a long list of keys', () => {
    const many = strict(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${at}`, z.string()])))
    expect(() => checkOptions('many', z.partial(many), { ['y'.repeat(500)]: 1 })).toThrow(
      /^many options: unknown key "y{64}…"\. Known keys: k0, .*, k19, …$/,
    )
  })
})

describe('checkOptions for valid options', () => {
  it.each([undefined, {}, { timeoutMs: undefined }, { timeoutMs: 1, depth: 'full', env: { A: '' } }])(
    'accepts %j',
    (options) => {
      expect(() => checkOptions('exec', schema, options)).not.toThrow()
    },
  )
})

describe('parseAs', () => {
  it('returns the output of the schema', () => {
    const counted = strict({ wait: z.pipe(z.string(), z.transform(Number)) })
    expect(parseAs('query', counted, { wait: '5' })).toEqual({ wait: 5 })
  })

  it('begins every path with the name of the value', () => {
    expect(() => parseAs('body', schema, { timeout: 1 })).toThrow(
      /^body: unknown key "timeout"; did you mean/,
    )
    expect(() => parseAs('body', schema, { items: [{}] })).toThrow(
      'body.items[0].path: expected a string, got nothing.',
    )
  })
})
