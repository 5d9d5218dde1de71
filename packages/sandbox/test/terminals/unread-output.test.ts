import fc from 'fast-check'
import { expect, it } from 'vitest'
import { UnreadOutput } from '../../src/terminals/unread-output.ts'

it('returns a character that arrives in two chunks once, after its second chunk', () => {
  const unread = new UnreadOutput()
  const [first, second] = [Buffer.from('😀').subarray(0, 2), Buffer.from('😀').subarray(2)]
  unread.push('stdout', Buffer.concat([Buffer.from('a'), first]))
  expect(unread.take().head.toString()).toBe('a')
  unread.push('stderr', Buffer.from('!'))
  unread.push('stdout', second)
  expect(unread.take().head.toString()).toBe('!😀')
  expect(unread.take()).toMatchObject({ head: Buffer.alloc(0), lines: 0, skipped: 0 })
})

it('returns an incomplete last character as a replacement character', () => {
  const unread = new UnreadOutput()
  unread.push('terminal', Buffer.from([0x61, 0xe2, 0x82]))
  unread.end()
  expect(unread.take().head.toString()).toBe('a\ufffd')
})

it('returns every text complete over any chunks and any number of calls', () => {
  const step = fc.record({ size: fc.integer({ min: 1, max: 7 }), asks: fc.boolean() })
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.array(step, { minLength: 1 }),
      (text, steps) => {
        const bytes = Buffer.from(text)
        const unread = new UnreadOutput()
        let said = ''
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const { size, asks } = steps[turn % steps.length] ?? { size: 1, asks: false }
          unread.push('stdout', bytes.subarray(at, at + size))
          at += size
          if (asks) said += unread.take().head.toString()
        }
        unread.end()
        expect(said + unread.take().head.toString()).toBe(text.toWellFormed())
      },
    ),
  )
})
