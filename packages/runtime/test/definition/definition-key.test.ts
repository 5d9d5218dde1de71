import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DefinitionKeyParts, definitionKey, type Tenant } from '../../src/definition/definition-key.ts'

const parts: DefinitionKeyParts = {
  definition: 'repo',
  provider: 'local',
  workspace: undefined,
  thread: 'thread-1',
}
const key = (changes: Partial<DefinitionKeyParts> = {}) => definitionKey({ ...parts, ...changes })

/** Texts in which separators, NUL, quotes, Unicode forms and lone surrogates are frequent. */
const text = fc
  .array(fc.constantFrom('a', 'b', ':', ',', '"', '\\', '\0', '/', 'é', 'e\u0301', '\ud800', '{', 'null'), {
    maxLength: 4,
  })
  .map((letters) => letters.join(''))
const tenant: fc.Arbitrary<Tenant | undefined> = fc.option(
  fc.oneof(text, fc.record({ userId: text, orgId: text }, { requiredKeys: [] })),
  { nil: undefined },
)

describe('the key of a definition', () => {
  it('has 256 bits', () => {
    expect(key()).toMatch(/^[0-9a-f]{64}$/)
  })

  it('differs if any part differs in any character, and is the same otherwise', () => {
    const some = fc.record({
      definition: text,
      provider: text,
      thread: text,
      run: fc.option(text, { nil: undefined }),
      tenant,
    })
    fc.assert(
      fc.property(some, some, (one, other) => {
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
        expect(definitionKey(given(one)) === definitionKey(given(other))).toBe(isSame)
      }),
      { numRuns: 5_000 },
    )
  })

  it.each<[string, Partial<DefinitionKeyParts>, Partial<DefinitionKeyParts>]>([
    [
      'texts that are the same when joined',
      { definition: 'a', thread: 'bc' },
      { definition: 'ab', thread: 'c' },
    ],
    ['a missing and an empty tenant', {}, { tenant: '' }],
    ['a missing tenant and one without fields', {}, { tenant: {} }],
    ['an empty tenant and one without fields', { tenant: '' }, { tenant: {} }],
    ['a tenant as text and as JSON', { tenant: '{"userId":"a"}' }, { tenant: { userId: 'a' } }],
    ['a user and an organisation', { tenant: { userId: 'a' } }, { tenant: { orgId: 'a' } }],
    ['composed and decomposed letters', { thread: '\u00e9' }, { thread: 'e\u0301' }],
    ['a text that ends in NUL', { thread: 'a' }, { thread: 'a\0' }],
    [
      'text and bytes of a file',
      { workspace: { files: { a: 'x' } } },
      { workspace: { files: { a: Buffer.from('x') } } },
    ],
    ['the order of steps', { workspace: { setup: ['a', 'b'] } }, { workspace: { setup: ['b', 'a'] } }],
  ])('tells %s apart', (_name, one, other) => {
    expect(key(one)).not.toBe(key(other))
  })

  it('does not depend on the order of keys, or on keys without a value', () => {
    const one = { files: { a: '1', b: Uint8Array.of(0, 255) }, env: { X: '1', Y: '2' } }
    const other = { env: { Y: '2', X: '1' }, git: undefined, files: { b: Uint8Array.of(0, 255), a: '1' } }
    expect(key({ workspace: one })).toBe(key({ workspace: other }))
    expect(key({ tenant: { userId: 'a', orgId: 'b' } })).toBe(key({ tenant: { orgId: 'b', userId: 'a' } }))
  })

  it('refuses a workspace with values that cannot be compared', () => {
    expect(() => key({ workspace: { files: { a: new Map() } } })).toThrow('expected data')
    expect(() => key({ workspace: { files: { a: () => 'x' } } })).toThrow('expected data')
  })
})

interface Given {
  readonly definition: string
  readonly provider: string
  readonly thread: string
  readonly run: string | undefined
  readonly tenant: Tenant | undefined
}

function given({ run, tenant: named, ...rest }: Given): DefinitionKeyParts {
  return {
    ...rest,
    workspace: undefined,
    ...(run !== undefined && { run }),
    ...(named !== undefined && { tenant: named }),
  }
}

function sorted({ definition, provider, thread, run, tenant: named }: Given): unknown {
  const shown =
    typeof named === 'object'
      ? ['object', named.userId ?? null, named.orgId ?? null]
      : ['text', named ?? null]
  return [definition, provider, thread, run ?? null, shown]
}
