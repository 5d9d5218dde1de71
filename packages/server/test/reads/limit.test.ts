import { describe, expect, it } from 'vitest'
import { LongReads } from '../../src/daemon/long-reads.ts'
import { type JsonResponse, jsonResponse } from '../../src/responses/json.ts'

const { signal } = new AbortController()
const response = jsonResponse(200, 'read')

describe('the long reads of a token', () => {
  it('run four at a time, and the others start in order', async () => {
    const reads = new LongReads(30_000)
    const started: number[] = []
    const ends: (() => void)[] = []
    const all = Array.from({ length: 10 }, (_, index) =>
      reads.run('viewer', signal, async () => {
        started.push(index)
        await new Promise<void>((resolve) => ends.push(resolve))
        return jsonResponse(200, index)
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
    const reads = new LongReads(30_000)
    const end = Promise.withResolvers<JsonResponse<unknown>>()
    const all = Array.from({ length: 50 }, () => reads.run('viewer', signal, () => end.promise))
    expect(await reads.run('alice', signal, async () => response)).toBe(response)
    end.resolve(response)
    await Promise.all(all)
  })

  it('are refused beyond a thousand that wait, and accepted again afterwards', async () => {
    const reads = new LongReads(30_000)
    const end = Promise.withResolvers<JsonResponse<unknown>>()
    const all = Array.from({ length: 1_004 }, () => reads.run('viewer', signal, () => end.promise))
    await expect(reads.run('viewer', signal, async () => response)).rejects.toMatchObject({
      code: 'too_many_reads',
      status: 429,
      retryable: true,
    })
    end.resolve(response)
    await Promise.all(all)
    expect(await reads.run('viewer', signal, async () => response)).toBe(response)
  })

  it('give up their place when the client leaves', async () => {
    const reads = new LongReads(30_000)
    const end = Promise.withResolvers<JsonResponse<unknown>>()
    const running = Array.from({ length: 4 }, () => reads.run('viewer', signal, () => end.promise))
    const leaving = new AbortController()
    const left = reads.run('viewer', leaving.signal, async () => response)
    const next = reads.run('viewer', signal, async () => response)
    leaving.abort()
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
    end.resolve(response)
    expect(await next).toBe(response)
    await Promise.all(running)
  })

  describe('with a large response', () => {
    const large = () => Promise.resolve(jsonResponse(200, 'x'.repeat(200_000)))
    /** Fills the slots of a token with large responses. */
    const fill = (reads: LongReads) =>
      Promise.all(Array.from({ length: 4 }, () => reads.run('viewer', signal, large)))
    /** Begins one more read; it starts once there is a slot. */
    const oneMore = (reads: LongReads) => {
      const state = { started: false }
      const read = reads.run('viewer', signal, async () => {
        state.started = true
        return response
      })
      return { state, read }
    }

    it.each([
      ['its body is read to the end', ({ toResponse }: Held) => toResponse().text()],
      ['its reader leaves', ({ toResponse }: Held) => toResponse().body!.cancel()],
      ['only its head is sent', ({ held }: Held) => held.head()],
    ])('have their slot until %s', async (_, close) => {
      const reads = new LongReads(30_000)
      const [held] = await fill(reads)
      const { state, read } = oneMore(reads)
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
      expect(state.started).toBe(false)
      await close({ held: held!, toResponse: () => held!.toResponse() })
      expect(await read).toBe(response)
    })

    it('lose it when nothing reads the body', async () => {
      const reads = new LongReads(20)
      const held = (await fill(reads)).map((one) => one.toResponse())
      expect(await oneMore(reads).read).toBe(response)
      await expect(held[0]!.text()).rejects.toMatchObject({ code: 'reader_fell_behind' })
    })

    it('say its length', async () => {
      const held = (await new LongReads(30_000).run('viewer', signal, large)).toResponse()
      expect(held.headers.get('content-length')).toBe('200002')
      expect((await held.text()).length).toBe(200_002)
    })

    it('have no slot any more when they fail', async () => {
      const reads = new LongReads(30_000)
      const failing = () => reads.run('viewer', signal, () => Promise.reject(new Error('broken')))
      for (let count = 0; count < 8; count += 1) await expect(failing()).rejects.toThrow('broken')
    })
  })
})

interface Held {
  readonly held: JsonResponse<unknown>
  readonly toResponse: () => Response
}
