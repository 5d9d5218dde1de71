import { describe, expect, it } from 'vitest'
import { differences, parsePattern } from './response-pattern.ts'

const fits = [
  ['{ "a": 1, "b": [true, null] }', { b: [true, null], a: 1 }],
  ['{ "a": …, "b": "sbx_…" }', { a: { any: 'value' }, b: 'sbx_1' }],
  ['{ "a": 1, … }', { a: 1, b: 2 }],
  ['{ "list": [1, …], "empty": […] }', { list: [1, 2, 3], empty: [] }],
] as const

const differs = [
  ['{ "a": 1, "b": 2 }', { a: 1 }, 'response.b: missing'],
  ['{ "a": …, … }', { b: 1 }, 'response.a: missing'],
  ['{ "a": 1 }', { a: 1, b: 2 }, 'response.b: not on the page'],
  ['{ "a": { "b": "x…" } }', { a: { b: 'y1' } }, 'response.a.b: the page shows "x…", the daemon sent "y1"'],
  ['[1, 2]', [1], 'response[1]: missing'],
  ['[1, …]', [], 'response[0]: missing'],
  ['[1]', [1, 2], 'response: the page shows 1 entries, the daemon sent 2'],
  ['{ "a": "1" }', { a: 1 }, 'response.a: the page shows "1", the daemon sent 1'],
] as const

describe('a response on a page', () => {
  it.each(fits)('%s fits %j', (shown, response) => {
    expect(differences(parsePattern(shown), response)).toEqual([])
  })

  it.each(differs)('%s does not fit %j', (shown, response, difference) => {
    expect(differences(parsePattern(shown), response)).toEqual([difference])
  })
})
