import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { toWebStream } from '../../src/primitives/index.ts'

describe('toWebStream', () => {
  it('turns a Readable and an async generator into a web stream', async () => {
    async function* parts() {
      yield Buffer.from('one ')
      yield Buffer.from('two')
    }
    for (const source of [Readable.from([Buffer.from('one '), Buffer.from('two')]), parts()]) {
      const stream = toWebStream('data', source)
      expect(stream).toBeInstanceOf(ReadableStream)
      expect(await text(stream)).toBe('one two')
    }
  })

  it('returns everything else unchanged', () => {
    const stream = new ReadableStream<Uint8Array>()
    for (const data of [stream, 'text', Uint8Array.of(1), undefined, null, 5, {}])
      expect(toWebStream('data', data)).toBe(data)
  })

  it('refuses a Readable that was read or destroyed', async () => {
    const read = Readable.from([Buffer.from('x')])
    await text(read)
    for (const source of [read, Readable.from([Buffer.from('x')]).destroy()])
      expect(() => toWebStream('stdin', source)).toThrow('stdin: expected a stream that was not read yet')
  })

  it('destroys a Readable that is cancelled while it waits for data', async () => {
    const silent = new Readable({ read: () => undefined })
    const reader = toWebStream('data', silent).getReader()
    const reading = reader.read()
    await reader.cancel()
    expect(silent.destroyed).toBe(true)
    expect(await reading).toEqual({ done: true, value: undefined })
  })

  it('reads nothing before it is asked', async () => {
    let reads = 0
    const source = new Readable({
      read() {
        reads += 1
        this.push(null)
      },
    })
    const stream = toWebStream('data', source)
    await new Promise(setImmediate)
    expect(reads).toBe(0)
    expect(await text(stream)).toBe('')
  })
})
