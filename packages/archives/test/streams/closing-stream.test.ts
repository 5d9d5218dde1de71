import { expect, it } from 'vitest'
import { closingStream, type StreamEnd } from '../../src/streams/closing-stream.ts'

it('reads directly into the buffers of a BYOB reader and counts the bytes', async () => {
  const ends: StreamEnd[] = []
  const content = Buffer.from('what is in the file')
  let at = 0
  const stream = closingStream(
    {
      next: () => Promise.reject(new Error('A buffer was there.')),
      async into(buffer) {
        const count = content.copy(buffer, 0, at)
        at += count
        return count
      },
      close: () => undefined,
    },
    { onEnd: (end) => ends.push(end) },
  )
  const reader = stream.getReader({ mode: 'byob' })
  let text = ''
  for (let memory = new ArrayBuffer(5); ; ) {
    const { done, value } = await reader.read(new Uint8Array(memory))
    if (done) break
    text += Buffer.from(value).toString()
    memory = value.buffer
  }
  expect(text).toBe(content.toString())
  await expect.poll(() => ends).toEqual([{ bytes: content.length, left: false }])
})

it('closes its source once, after the read that was pending when its reader cancelled', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const order: string[] = []
  const stream = closingStream(
    {
      next: () => Promise.resolve(undefined),
      into() {
        begin()
        return promise
      },
      close: () => void order.push('closed'),
    },
    { onEnd: ({ left }) => order.push(left ? 'left' : 'ended') },
  )
  const reader = stream.getReader({ mode: 'byob' })
  const reading = reader.read(new Uint8Array(8))
  await begun
  const cancelled = reader.cancel()
  await new Promise(setImmediate)
  order.push('read')
  resolve(8)
  await Promise.all([reading, cancelled])
  expect(order).toEqual(['read', 'closed', 'left'])
})
