import { describe, expect, it } from 'vitest'
import { LongReads } from '../../src/daemon/long-reads.ts'

const { signal } = new AbortController()

describe('the long reads of a token', () => {
  it('run four at a time, and the others start in order', async () => {
    const reads = new LongReads()
    const started: number[] = []
    const ends: (() => void)[] = []
    const all = Array.from({ length: 10 }, (_, index) =>
      reads.run('viewer', signal, async () => {
        started.push(index)
        await new Promise<void>((resolve) => ends.push(resolve))
        return index
      }),
    )
    await expect.poll(() => started.length).toBe(4)
    for (let ended = 1; ended <= 10; ended += 1) {
      ends[ended - 1]!()
      await all[ended - 1]
      await expect.poll(() => started.length).toBe(Math.min(10, 4 + ended))
    }
    expect(started).toEqual(Array.from({ length: 10 }, (_, index) => index))
  })

  it('do not wait for those of another token', async () => {
    const reads = new LongReads()
    const end = Promise.withResolvers<void>()
    const all = Array.from({ length: 50 }, () => reads.run('viewer', signal, () => end.promise))
    expect(await reads.run('alice', signal, async () => 'read')).toBe('read')
    end.resolve()
    await Promise.all(all)
  })

  it('are refused beyond a thousand that wait, and accepted again afterwards', async () => {
    const reads = new LongReads()
    const end = Promise.withResolvers<void>()
    const all = Array.from({ length: 1_004 }, () => reads.run('viewer', signal, () => end.promise))
    await expect(reads.run('viewer', signal, async () => undefined)).rejects.toMatchObject({
      code: 'too_many_reads',
      status: 429,
      retryable: true,
    })
    end.resolve()
    await Promise.all(all)
    expect(await reads.run('viewer', signal, async () => 'read')).toBe('read')
  })

  it('give up their place when the client leaves', async () => {
    const reads = new LongReads()
    const end = Promise.withResolvers<void>()
    const running = Array.from({ length: 4 }, () => reads.run('viewer', signal, () => end.promise))
    const leaving = new AbortController()
    const left = reads.run('viewer', leaving.signal, async () => 'never')
    const next = reads.run('viewer', signal, async () => 'read')
    leaving.abort()
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
    end.resolve()
    expect(await next).toBe('read')
    await Promise.all(running)
  })
})
