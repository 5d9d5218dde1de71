import { describe, expect, it } from 'vitest'
import { background } from '../../waiting/background.ts'
import { eventually, withTimeLimit } from '../../waiting/within.ts'
import { allEvents, operationsOf, typesOf } from '../events.ts'
import { someBytes } from '../files/content.ts'
import { type MakeSandbox, newSandbox } from '../kit.ts'
import { tarOf } from './tar-bytes.ts'
import { extractZip, unpackCalls } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'

const tar = tarOf({ name: 'a', content: 'new' }, { name: 'd/large', content: someBytes(200_000) })
const once = ['operation.started', 'operation.finished']

/** A stream that yields the first half of an archive and then never ends. */
function halfOf(archive: Uint8Array) {
  let pulls = 0
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls += 1
        if (pulls === 1) controller.enqueue(archive.subarray(0, archive.length >> 1))
        else return new Promise(() => undefined)
        return undefined
      },
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, isWaitingForMore: () => pulls > 1, isCancelled: () => isCancelled }
}

export function cancelledCases(make: MakeSandbox): void {
  describe('cancelled archives', () => {
    it.each([...unpackCalls, extractZip])(
      '$name that is cancelled halfway changes nothing',
      async ({ send, op }) => {
        const under = await newSandbox(make)
        const { sandbox, journal } = under
        await sandbox.exec('mkdir here && echo kept > here/a')
        await changesNothing(under, 'cancelled', async () => {
          const caller = new AbortController()
          const half = halfOf(tar)
          const sending = background(send(sandbox, half.stream, { signal: caller.signal }))
          await eventually('it to wait for more', half.isWaitingForMore)
          caller.abort()
          await expect(withTimeLimit('the end', sending)).rejects.toMatchObject({ code: 'cancelled' })
          await eventually('the source to be cancelled', half.isCancelled)
          await expect(send(sandbox, tar, { signal: AbortSignal.abort() })).rejects.toMatchObject({
            code: 'cancelled',
          })
        })
        const operations = operationsOf(await allEvents(journal), op)
        expect(operations.map(typesOf)).toEqual([once, once])
        expect(operations.map((one) => one[1]!.data.outcome)).toEqual(['cancelled', 'cancelled'])
      },
    )

    it.each(unpackCalls)('$name that is cut by a shutdown changes nothing', async ({ send, op }) => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      await sandbox.exec('mkdir here && echo kept > here/a')
      await changesNothing(under, 'shut down', async () => {
        const half = halfOf(tar)
        const sending = background(send(sandbox, half.stream))
        await eventually('it to wait for more', half.isWaitingForMore)
        await sandbox.lifecycle.shutdown()
        await expect(withTimeLimit('the end', sending)).rejects.toMatchObject({ code: 'cancelled' })
        await sandbox.lifecycle.start()
      })
      const operations = operationsOf(await allEvents(journal), op)
      expect(operations.map(typesOf)).toEqual([once])
      expect(operations[0]?.[1]?.data).toMatchObject({ outcome: 'cancelled' })
    })
  })
}
