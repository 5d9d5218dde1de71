import { describe, expect, it } from 'vitest'
import { streamParts } from '../../src/http/stream-parts.ts'

const partCount = 50

/** Bytes that say which part they belong to. */
function byteStream(): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      const { view } = controller.byobRequest!
      if (at === partCount) {
        controller.close()
        controller.byobRequest!.respond(0)
        return
      }
      const bytes = new Uint8Array(view!.buffer, view!.byteOffset, view!.byteLength)
      bytes.fill(at++)
      controller.byobRequest!.respond(bytes.byteLength)
    },
  })
}

describe('The parts of a stream', () => {
  it('stay unchanged until the next one is requested, although one is read ahead', async () => {
    let at = 0
    for await (const part of streamParts(byteStream())) {
      // Time for whatever is read ahead.
      await new Promise(setImmediate)
      expect([part[0], part.at(-1)]).toEqual([at, at])
      at += 1
    }
    expect(at).toBe(partCount)
  })

  it('use two buffers for any number of parts', async () => {
    const memories = new Set<number>()
    let marker = 0
    const stream: ReadableStream<Uint8Array> = new ReadableStream({
      type: 'bytes',
      pull(controller) {
        const { view } = controller.byobRequest!
        const bytes = new DataView(view!.buffer, view!.byteOffset)
        // A buffer is the same memory when it still has the mark of its first use.
        const mark = bytes.getUint32(8)
        const known = bytes.getUint32(4) === 0xfeed_beef ? mark : ++marker
        bytes.setUint32(4, 0xfeed_beef)
        bytes.setUint32(8, known)
        memories.add(known)
        controller.byobRequest!.respond(view!.byteLength)
      },
    })
    let count = 0
    for await (const _ of streamParts(stream)) if (++count === partCount) break
    expect(memories.size).toBe(2)
  })

  it('come also from a stream without BYOB support', async () => {
    const texts: string[] = []
    const stream = ReadableStream.from(['a', 'b', 'c'].map((text) => Buffer.from(text)))
    for await (const part of streamParts(stream)) texts.push(Buffer.from(part).toString())
    expect(texts).toEqual(['a', 'b', 'c'])
  })

  it('fail where the stream fails, and not before', async () => {
    const stream = ReadableStream.from(
      (async function* () {
        yield Buffer.from('whole')
        throw new Error('broken')
      })(),
    )
    const parts = streamParts(stream)
    expect(Buffer.from((await parts.next()).value ?? []).toString()).toBe('whole')
    await expect(parts.next()).rejects.toThrow('broken')
  })

  it.each(['bytes', undefined] as const)(
    'cancel a stream of type %s when their reader stops',
    async (type) => {
      for (const began of [false, true]) {
        let cancelled = 0
        const cancel = () => {
          cancelled += 1
        }
        const first = new Uint8Array(8)
        const stream: ReadableStream<Uint8Array> =
          type === 'bytes'
            ? new ReadableStream({ type, cancel, start: (controller) => controller.enqueue(first) })
            : new ReadableStream({ cancel, start: (controller) => controller.enqueue(first) })
        const parts = streamParts(stream)
        if (began) await parts.next()
        // One is being read ahead.
        await parts.return()
        expect(cancelled).toBe(1)
      }
    },
  )
})
