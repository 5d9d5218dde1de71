import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { someBytes, streamOf } from '../files/content.ts'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { tarOf } from './tar-bytes.ts'
import { extractZip, unpackCalls } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'
import { zipOf } from './zip-bytes.ts'

const tar = tarOf(
  { name: 'a', content: 'first' },
  { name: 'd/', type: '5' },
  { name: 'd/large', content: someBytes(70_000) },
  { name: 'd/last', pax: { mtime: '1577934245.5' }, content: 'last' },
)

/** Offsets in a header, in content, in padding, between members, and before the end. */
const cuts = [1, 511, 512, 515, 700, 1_024, 1_536, 2_048, 30_000, 72_000, 73_500, 74_240, 75_000]

export function damagedCases(make: MakeSandbox): void {
  describe('damaged archives', () => {
    const shared = sharedSandbox(make)

    it.each(unpackCalls)('$name refuses a tar that is cut off at any offset', async ({ send }) => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec('mkdir here && echo kept > here/a && ln here/a kept')
      const packed = [gzipSync(tar), zstdCompressSync(tar)]
      const pieces = [
        ...cuts.map((at) => tar.subarray(0, at)),
        ...packed.flatMap((bytes) =>
          [5, 40, bytes.length >> 1, bytes.length - 5].map((at) => bytes.subarray(0, at)),
        ),
      ]
      await changesNothing(under, 'all of them', async () => {
        for (const piece of pieces) {
          const label = `${piece.length} bytes`
          const invalid = { code: 'archive_invalid' }
          const parts = streamOf([piece.subarray(0, 600), piece.subarray(600)])
          await expect(send(sandbox, piece), label).rejects.toMatchObject(invalid)
          await expect(send(sandbox, parts), label).rejects.toMatchObject(invalid)
        }
      })
    })

    it.each(unpackCalls)('$name refuses a tar with a damaged header', async ({ send }) => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec('mkdir here && echo kept > here/a')
      await changesNothing(under, 'all of them', async () => {
        for (const at of [0, 100, 124, 148, 156, 257]) {
          const damaged = Buffer.from(tar)
          damaged[at] = damaged[at]! ^ 0x55
          await expect(send(sandbox, damaged), `byte ${at}`).rejects.toMatchObject({
            code: 'archive_invalid',
          })
        }
        for (const notAnArchive of [Buffer.alloc(0), Buffer.from('no archive at all')])
          await expect(send(sandbox, notAnArchive)).rejects.toMatchObject({ code: 'archive_invalid' })
      })
    })

    it('extract refuses a zip that is cut off at any offset', async () => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec('mkdir here && echo kept > here/a')
      const zip = zipOf(
        { name: 'a', content: 'x'.repeat(5_000), deflate: true },
        { name: 'b', content: 'stored' },
      )
      await changesNothing(under, 'all of them', async () => {
        for (const at of [0, 3, 30, 60, zip.length - 120, zip.length - 60, zip.length - 22, zip.length - 1])
          await expect(extractZip.send(sandbox, zip.subarray(0, at)), `${at} bytes`).rejects.toMatchObject({
            code: 'archive_invalid',
          })
      })
    })

    it.each([...unpackCalls, extractZip])('$name refuses an archive whose stream fails', async ({ send }) => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec('mkdir here && echo kept > here/a')
      await changesNothing(under, 'a stream that breaks', async () => {
        const broken = streamOf([tar.subarray(0, 3_000)], (controller) =>
          controller.error(Object.assign(new Error('the source broke'), { code: 'ENOENT' })),
        )
        const error = await send(sandbox, broken).catch((reason: unknown) => reason)
        expect(error).toMatchObject({
          code: 'file_failed',
          message: expect.stringContaining('the source broke'),
        })
        const texts = streamOf([], (controller) => controller.enqueue('text' as never))
        await expect(send(sandbox, texts)).rejects.toMatchObject({ code: 'argument_invalid' })
      })
    })
  })
}
