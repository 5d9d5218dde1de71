import { expect, it } from 'vitest'
import { bufferedReader } from '../../src/streams/buffered-reader.ts'

function byteStream(fill: (view: Uint8Array, at: number) => number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      const { byobRequest } = controller
      const view = byobRequest?.view
      if (view == null) throw new Error('There is no buffer.')
      const count = fill(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), at++)
      if (count === 0) controller.close()
      byobRequest!.respond(count)
    },
  })
}

it('reads a whole byte stream through one buffer', async () => {
  const mark = 0xa7
  let again = 0
  const stream = byteStream((view, at) => {
    // The last byte still has the value of the previous read.
    if (view.at(-1) === mark) again += 1
    view.fill(mark, view.length - 1)
    view[0] = at
    return at < 20 ? view.length : 0
  })
  const reader = bufferedReader(stream)
  const seen: number[] = []
  for (let part = await reader.read(); part !== undefined; part = await reader.read()) seen.push(part[0]!)
  expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(again).toBeGreaterThanOrEqual(20)
})

it('returns the chunks of a stream that does not support BYOB readers', async () => {
  const reader = bufferedReader(ReadableStream.from(['a', 'bc'].map((text) => Buffer.from(text))))
  const parts: string[] = []
  for (let part = await reader.read(); part !== undefined; part = await reader.read())
    parts.push(Buffer.from(part).toString())
  expect(parts).toEqual(['a', 'bc'])
})

it('passes the reason of a cancel to the stream', async () => {
  const reasons: unknown[] = []
  const cancel = (reason: unknown) => void reasons.push(reason)
  for (const stream of [new ReadableStream({ type: 'bytes', cancel }), new ReadableStream({ cancel })])
    await bufferedReader(stream as ReadableStream<Uint8Array>).cancel('enough')
  expect(reasons).toEqual(['enough', 'enough'])
})

it('returns undefined for each read after the end, and the same error after a failure', async () => {
  const ended = bufferedReader(byteStream(() => 0))
  for (let time = 0; time < 3; time += 1) expect(await ended.read()).toBeUndefined()
  const broken = bufferedReader(
    byteStream(() => {
      throw new Error('The disk is gone.')
    }),
  )
  for (let time = 0; time < 3; time += 1) await expect(broken.read()).rejects.toThrow('The disk is gone.')
})
