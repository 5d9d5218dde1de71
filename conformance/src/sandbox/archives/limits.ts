import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { outputOf, someBytes } from '../files/content.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { tarHeader, tarOf } from './tar-bytes.ts'
import { additiveCalls, extractZip, unpackCalls } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'
import { zipOf } from './zip-bytes.ts'

const tooLarge = { code: 'archive_too_large' }
const setup = 'mkdir here && echo kept > here/a'

export function archiveLimitCases(make: MakeSandbox): void {
  describe('limits', () => {
    const bounded = sharedSandbox(make, {
      limits: { archives: { inputBytes: 40_000, expandedBytes: 60_000, members: 5 } },
    })
    const boundedAfterwards = sharedSandbox(make, { limits: { archives: { expandedBytes: 60_000 } } })

    it.each(unpackCalls)('$name enforces the archive limits', async ({ send }) => {
      const under = await bounded()
      const { sandbox } = under
      await sandbox.exec(setup)
      const names = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `f${index}` }))
      await changesNothing(under, 'all of them', async () => {
        const input = tarOf({ name: 'f', content: someBytes(41_000) })
        await expect(send(sandbox, input), 'inputBytes').rejects.toMatchObject(tooLarge)
        await expect(
          send(sandbox, new Blob([new Uint8Array(input)]).stream()),
          'streamed',
        ).rejects.toMatchObject(tooLarge)
        await expect(send(sandbox, tarOf(...names(6))), 'members').rejects.toMatchObject(tooLarge)
        await expect(send(sandbox, tarOf({ name: 'a/b/c/d/e/f' })), 'parents').rejects.toMatchObject(tooLarge)
      })
      expect(await send(sandbox, tarOf(...names(5)))).toMatchObject({ files: 5 })
    })

    it.each([
      ['upload', 'tar.gz'],
      ['upload', 'tar.zst'],
      ['extract', 'tar.gz'],
      ['extract', 'tar.zst'],
      ['hydrate', 'tar.gz'],
      ['hydrate', 'tar.zst'],
    ] as const)('%s of %s counts the expanded bytes', async (call, scheme) => {
      const under = await boundedAfterwards()
      const { sandbox } = under
      await sandbox.exec(setup)
      const tar = tarOf({ name: 'zeros', content: new Uint8Array(5_000_000) })
      const bomb = scheme === 'tar.gz' ? gzipSync(tar) : zstdCompressSync(tar)
      await changesNothing(under, 'a bomb', async () => {
        const calls = {
          upload: () => sandbox.files.upload('here', bomb),
          extract: () => sandbox.files.extract(`here/bomb.${scheme}`, bomb),
          hydrate: () => sandbox.hydrate(bomb),
        }
        await expect(calls[call]()).rejects.toMatchObject(tooLarge)
      })
    })

    it('extract of a zip enforces the archive limits', async () => {
      const under = await newSandbox(make, { limits: { archives: { expandedBytes: 60_000, members: 3 } } })
      const { sandbox } = under
      await sandbox.exec(setup)
      await changesNothing(under, 'all of them', async () => {
        const bomb = zipOf({ name: 'zeros', content: '\0'.repeat(1_000_000), deflate: true })
        await expect(extractZip.send(sandbox, bomb)).rejects.toMatchObject(tooLarge)
        const many = zipOf(...['a', 'b', 'c', 'd'].map((name) => ({ name })))
        await expect(extractZip.send(sandbox, many)).rejects.toMatchObject(tooLarge)
      })
    })

    it.each(unpackCalls)('$name counts a sparse file by its apparent size', async ({ send }) => {
      const under = await boundedAfterwards()
      const { sandbox } = under
      await sandbox.exec(setup)
      await changesNothing(under, 'a sparse file', async () => {
        await expect(send(sandbox, hollowTar(50_000_000))).rejects.toMatchObject(tooLarge)
      })
    })

    it.each(additiveCalls)('$name keeps the holes of a sparse file', async ({ send }) => {
      const { sandbox } = await newSandbox(make)
      await send(sandbox, hollowTar(50_000_000))
      expect(await outputOf(sandbox, 'stat -c "%s %b" here/hollow')).toBe('50000000 0')
    })
  })
}

/** A tar with a file that has a size but no content. */
function hollowTar(size: number): Buffer {
  const pax = {
    'GNU.sparse.major': '1',
    'GNU.sparse.minor': '0',
    'GNU.sparse.name': 'hollow',
    'GNU.sparse.realsize': `${size}`,
  }
  const map = Buffer.alloc(512)
  map.write('0\n')
  return tarOf({ name: 'hollow', pax, content: map })
}

/** Archives that expand to many times their size. */
export function archiveBombCases(make: MakeSandbox): void {
  describe('limits', () => {
    it('an archive bomb is refused by its expansion ratio without any setting', async () => {
      const under = await newSandbox(make)
      const { sandbox } = under
      await sandbox.exec(setup)
      const size = 80 * 1024 ** 2
      const bomb = gzipSync(Buffer.concat([tarHeader({ name: 'zeros' }, size), Buffer.alloc(size + 1_024)]))
      await changesNothing(under, 'a bomb', async () => {
        for (const { send } of unpackCalls.filter(({ name }) => name !== 'extract'))
          await expect(send(sandbox, bomb)).rejects.toMatchObject(tooLarge)
      })
    })
  })
}
