import { describe, expect, it } from 'vitest'
import { closingParts, discard, limitStalls } from '../../src/http/body.ts'

async function* letters(): AsyncGenerator<Uint8Array> {
  for (const letter of 'abc') yield Buffer.from(letter)
}

describe('Parts with a source', () => {
  it('close it when they are discarded before the first one', async () => {
    let closed = 0
    const parts = closingParts(letters(), () => {
      closed += 1
    })
    discard(parts)
    expect(closed).toBe(1)
    expect(await parts.next()).toEqual({ done: true, value: undefined })
  })

  it('close it while a part is awaited, which ends the wait', async () => {
    const { promise, resolve } = Promise.withResolvers<IteratorResult<Uint8Array>>()
    const parts = closingParts({ next: () => promise }, () => resolve({ done: true, value: undefined }))
    const waiting = parts.next()
    await parts.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })
})

describe('A limit of stalls', () => {
  it('calls back when the next part is not requested in time', async () => {
    const { promise: stalled, resolve: stall } = Promise.withResolvers<void>()
    const parts = limitStalls(letters(), 1, stall)
    await parts.next()
    await stalled
    await parts.return()
  })

  it('does not call back while the source is slow, nor after the end', async () => {
    let stalls = 0
    const slow = (async function* () {
      for (const letter of 'ab') {
        await new Promise((resolve) => setTimeout(resolve, 20))
        yield Buffer.from(letter)
      }
    })()
    const seen: string[] = []
    for await (const part of limitStalls(slow, 10, () => (stalls += 1)))
      seen.push(Buffer.from(part).toString())
    // Two timers of the same length fire in their order.
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([seen, stalls]).toEqual([['a', 'b'], 0])
  })
})

it('A limit of stalls sets no timer after its consumer has left, also while a part was awaited', async () => {
  const { promise, resolve } = Promise.withResolvers<IteratorResult<Uint8Array>>()
  let stalls = 0
  const source = { next: () => promise, [Symbol.asyncIterator]: () => source }
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const parts = limitStalls(source, 60_000, () => {
    stalls += 1
  })
  const waiting = parts.next()
  await parts.return()
  resolve({ done: false, value: Buffer.from('end') })
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect({ timers: timers(), stalls }).toEqual({ timers: before, stalls: 0 })
})
