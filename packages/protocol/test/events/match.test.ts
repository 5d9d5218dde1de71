import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventCatalogue, matchTypes } from '../../src/index.ts'

describe('matchTypes', () => {
  it.each<[readonly string[] | undefined, string, boolean]>([
    [undefined, 'anything.at_all', true],
    [['*'], 'anything.at_all', true],
    [['file.created', '*'], 'turn.started', true],
    [[], 'file.created', false],
    [['file.created'], 'file.created', true],
    [['file.created'], 'file.created.x', false],
    [['file.created'], 'file.changed', false],
    [['file.*'], 'file.moved', true],
    [['file.*'], 'file.', true],
    [['file.*'], 'file', false],
    [['file.*'], 'files.created', false],
    [['file.*'], 'profile.created', false],
    [['file.*', 'turn.finished'], 'turn.finished', true],
    [['file.*', 'turn.finished'], 'turn.started', false],
    [['*.created'], 'file.created', false],
    [['f*'], 'file.created', false],
    [['.*'], 'file.created', false],
    [['FILE.*'], 'file.created', false],
  ])('matches %j against %s: %s', (patterns, type, expected) => {
    expect(matchTypes(patterns)(type)).toBe(expected)
  })

  it('matches an array if and only if one of its patterns matches', () => {
    const types = Object.keys(eventCatalogue)
    const pattern = fc.constantFrom(...types, ...types.map((type) => type.replace(/\..*/, '.*')))
    fc.assert(
      fc.property(fc.array(pattern), fc.constantFrom(...types), (patterns, type) => {
        const expected = patterns.some(
          (one) => one === type || (one.endsWith('*') && type.split('.')[0] === one.split('.')[0]),
        )
        expect(matchTypes(patterns)(type)).toBe(expected)
      }),
    )
  })
})
