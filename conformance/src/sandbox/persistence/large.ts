import { describe, expect, it } from 'vitest'
import { outputOf } from '../files/content.ts'
import { type MakeSandbox, newSandbox } from '../kit.ts'
import { transfer } from './transfer.ts'

const mib = 1024 ** 2

/** Workspaces of hundreds of megabytes, and of a thousand files. */
export function largePersistenceCases(make: MakeSandbox): void {
  describe('large workspaces', () => {
    it('a large file is transferred within bounded memory', async () => {
      const { sandbox: from } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      await from.exec('yes vitrine | head -c 224M > large')
      expect(await peakGrowthOf(() => transfer(from, to))).toBeLessThan(200 * mib)
      expect(await outputOf(to, 'stat -c %s large; tail -c 8 large')).toBe(`${224 * mib}\nvitrine`)
      expect(await outputOf(to, 'sha256sum < large')).toBe(await outputOf(from, 'sha256sum < large'))
    })

    it('persisting 400 MiB failed with "Invalid string length"', async () => {
      const { sandbox: from } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      await from.exec('truncate -s 600M zeros; echo x > after')
      expect(await peakGrowthOf(() => transfer(from, to))).toBeLessThan(200 * mib)
      expect(await outputOf(to, 'stat -c %s zeros; cat after')).toBe('629145600\nx')
    })

    it('many small files are transferred', async () => {
      const { sandbox: from } = await newSandbox(make, { watch: false })
      const { sandbox: to } = await newSandbox(make, { watch: false })
      await from.exec('for i in $(seq 5); do mkdir d$i; (cd d$i; seq 200 | split -l 1 -a 3 - f); done')
      expect(await transfer(from, to)).toMatchObject({ files: 1_000, directories: 5 })
      expect(await outputOf(to, 'cat d*/f* | sha256sum')).toBe(await outputOf(from, 'cat d*/f* | sha256sum'))
    })
  })
}

/** The peak growth of this process's memory while `run` runs, in bytes. */
async function peakGrowthOf(run: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 5)
  try {
    await run()
  } finally {
    clearInterval(watching)
  }
  return Math.max(most, process.memoryUsage.rss()) - before
}
