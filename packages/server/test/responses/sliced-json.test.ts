import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { slicedJson } from '../../src/responses/sliced-json.ts'

describe('JSON that is encoded in slices', () => {
  it('is the text that JSON.stringify returns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        expect(await slicedJson(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('leaves out what is undefined in an object, and has null for it in an array', async () => {
    const value = { a: undefined, b: [undefined, 1], c: { d: undefined }, e: {}, f: [] }
    expect(await slicedJson(value)).toBe(JSON.stringify(value))
  })
})
