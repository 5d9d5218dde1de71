import { describe, expect, it } from 'vitest'
import { Viewers } from '../../src/output/viewers.ts'

const megabyte = Buffer.alloc(1024 * 1024, 'x')

async function sizeOf(view: AsyncIterable<{ data: Uint8Array }>): Promise<number> {
  let size = 0
  for await (const { data } of view) size += data.length
  return size
}

describe('a viewer', () => {
  it('gets earlier output, then new output until the end', async () => {
    const viewers = new Viewers()
    viewers.take('stdout', Buffer.from('one '))
    viewers.take('stderr', Buffer.from('two '))
    const view = viewers.view()
    expect(await view.next()).toEqual({ done: false, value: { stream: 'stdout', data: Buffer.from('one ') } })
    viewers.take('stdout', Buffer.from('three'))
    viewers.end()
    const rest: string[] = []
    for await (const { stream, data } of view) rest.push(`${stream}: ${Buffer.from(data)}`)
    expect(rest).toEqual(['stderr: two ', 'stdout: three'])
  })

  it('a late viewer gets the last 256 KiB of each stream', async () => {
    const viewers = new Viewers()
    viewers.take('stdout', megabyte)
    viewers.take('stdout', Buffer.from('end'))
    viewers.take('stderr', Buffer.from('short'))
    viewers.end()
    const seen: string[] = []
    for await (const { data } of viewers.view()) seen.push(Buffer.from(data).toString())
    expect(seen.map(({ length }) => length)).toEqual([256 * 1024, 5])
    expect(seen[0]).toMatch(/xend$/)
  })

  it('disconnects a viewer that falls behind with an error, while the others get everything', async () => {
    const viewers = new Viewers()
    const slow = viewers.view()
    const quick = viewers.view()
    viewers.take('stdout', Buffer.from('begin'))
    await Promise.all([slow.next(), quick.next()])
    let seen = 0
    for (let round = 0; round < 20; round += 1) {
      viewers.take('stdout', megabyte)
      const { value } = await quick.next()
      seen += value?.data.length ?? 0
    }
    expect(seen).toBe(20 * megabyte.length)
    await expect(slow.next()).rejects.toMatchObject({ code: 'reader_fell_behind' })
    viewers.end()
    expect((await quick.next()).done).toBe(true)
    expect((await slow.next()).done).toBe(true)
  })

  it('a viewer that catches up may fall behind again', async () => {
    const viewers = new Viewers()
    const view = viewers.view()
    viewers.take('stdout', Buffer.from('begin'))
    await view.next()
    for (let round = 0; round < 4; round += 1) {
      for (let count = 0; count < 10; count += 1) viewers.take('stdout', megabyte)
      for (let count = 0; count < 10; count += 1) expect((await view.next()).done).toBe(false)
    }
    viewers.end()
    expect((await view.next()).done).toBe(true)
  })

  it('stops when its signal aborts, also while it waits', async () => {
    const viewers = new Viewers()
    const stopping = new AbortController()
    const size = sizeOf(viewers.view(stopping.signal))
    setImmediate(() => stopping.abort())
    expect(await size).toBe(0)
    viewers.take('stdout', Buffer.from('later'))
    expect(await sizeOf(viewers.view(AbortSignal.abort()))).toBe(0)
  })

  it('does not wait for a viewer that has left', async () => {
    const viewers = new Viewers()
    viewers.take('stdout', Buffer.from('x'))
    for await (const chunk of viewers.view()) {
      expect(chunk.stream).toBe('stdout')
      break
    }
    viewers.take('stdout', Buffer.from('y'))
    viewers.end()
    expect(await sizeOf(viewers.view())).toBe(2)
  })
})
