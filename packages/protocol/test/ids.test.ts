import { describe, expect, it } from 'vitest'
import { type IdKind, idPrefixes, isId, newId } from '../src/index.ts'
import { checkSandboxId, idPattern, namePattern, sessionIdPattern } from '../src/primitives/index.ts'

const kinds = Object.keys(idPrefixes) as IdKind[]
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

describe('newId', () => {
  it.each(kinds)('creates an id of the kind %s with its prefix and 26 letters', (kind) => {
    const id = newId(kind)
    const [prefix, letters, ...rest] = id.split('_')
    expect(prefix).toBe(idPrefixes[kind])
    expect(letters).toHaveLength(26)
    expect(rest).toEqual([])
    expect(isId(kind, id)).toBe(true)
  })

  it('has a different prefix for every kind', () => {
    expect(new Set(Object.values(idPrefixes)).size).toBe(kinds.length)
    for (const prefix of Object.values(idPrefixes)) expect(prefix).toMatch(/^[a-z]+$/)
  })

  it('draws each of the 26 characters from all 32 letters: more than 128 bits', () => {
    const seen = Array.from({ length: 26 }, () => new Set<string>())
    for (let count = 0; count < 2_000; count += 1) {
      for (const [position, letter] of [...newId('operation').slice('op_'.length)].entries()) {
        seen[position]?.add(letter)
      }
    }
    for (const letters of seen) expect([...letters].sort().join('')).toBe(alphabet)
    expect(26 * Math.log2(alphabet.length)).toBeGreaterThanOrEqual(128)
  })

  it('draws all letters about equally often', () => {
    const counts = new Map<string, number>()
    const ids = 10_000
    for (let count = 0; count < ids; count += 1) {
      for (const letter of newId('run').slice('run_'.length))
        counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    const expected = (ids * 26) / 32
    for (const letter of alphabet) {
      // About ten standard deviations: detects a skew of a factor of two, but does not fail by chance.
      expect(Math.abs((counts.get(letter) ?? 0) - expected)).toBeLessThan(10 * Math.sqrt(expected))
    }
  })

  it('does not collide in 100,000 ids', () => {
    const ids = new Set(Array.from({ length: 100_000 }, () => newId('session')))
    expect(ids.size).toBe(100_000)
  })
})

describe('isId', () => {
  const good = newId('sandbox')

  it.each([
    ['another kind', newId('session')],
    ['one letter less', good.slice(0, -1)],
    ['one letter more', `${good}0`],
    ['a letter that is read as another', `${good.slice(0, -1)}l`],
    ['a capital letter', `${good.slice(0, -1)}A`],
    ['no prefix', good.slice(4)],
    ['nothing', ''],
    ['a path', 'sbx_../../../../../etc/passwd'],
  ])('refuses %s', (_what, text) => {
    expect(isId('sandbox', text)).toBe(false)
  })
})

describe('ids and names that a caller chooses', () => {
  it.each(kinds)('include the generated ids of the kind %s', (kind) => {
    expect(newId(kind)).toMatch(idPattern)
    expect(newId(kind)).toMatch(sessionIdPattern)
  })

  it.each(['', 'a/b', 'a b', 'é', 'a\n', 'x'.repeat(129)])('exclude %j', (text) => {
    expect(text).not.toMatch(idPattern)
    expect(text).not.toMatch(sessionIdPattern)
    expect(text).not.toMatch(namePattern)
  })

  it('allow ":" only in the id of a session', () => {
    expect('chat:1').toMatch(sessionIdPattern)
    expect('chat:1').not.toMatch(idPattern)
    expect('chat:1').not.toMatch(namePattern)
  })

  it('are names if they start with a letter or digit and have at most 64 characters', () => {
    expect('a'.repeat(64)).toMatch(namePattern)
    for (const text of ['a'.repeat(65), '.a', '-a', '_a']) expect(text).not.toMatch(namePattern)
  })

  it.each(['.', '..', 'a/b', ''])('are not sandbox ids if they lead elsewhere as a file name: %j', (id) => {
    expect(() => checkSandboxId(id)).toThrow(
      expect.objectContaining({ code: 'argument_invalid', message: expect.stringMatching(/^id: expected/) }),
    )
  })

  it.each(['host', 'loop_1', 'loop_'])('are not sandbox ids if another journal may have them: %j', (id) => {
    expect(() => checkSandboxId(id)).toThrow(
      expect.objectContaining({
        code: 'argument_invalid',
        message: expect.stringContaining('is reserved for another journal'),
      }),
    )
  })

  it.each(['...', '.a', 'A-1_b.c', 'hosts', 'Host', 'loop', 'my_loop_1'])(
    'are sandbox ids otherwise: %j',
    (id) => {
      expect(() => checkSandboxId(id)).not.toThrow()
    },
  )
})
