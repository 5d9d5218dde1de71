import { setInterval } from 'node:timers'
import { describe, expect, it } from 'vitest'
import { say } from '../files/content.ts'
import { type MakeSandbox, newSandbox } from '../setting.ts'
import { carry } from './moving.ts'

const mib = 1024 ** 2

/** How much this process grew at most while something ran. */
async function growthOf(run: () => Promise<unknown>): Promise<number> {
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

export function largeCases(make: MakeSandbox): void {
  describe('what is large', () => {
    it('goes over in a few megabytes of memory', async () => {
      const { sandbox: from } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      await from.exec('yes vitrine | head -c 256M > large; truncate -s 600M zeros')
      expect(await growthOf(() => carry(from, to))).toBeLessThan(200 * mib)
      expect(await say(to, 'stat -c %s large zeros; tail -c 8 large')).toBe(
        `${256 * mib}\n${600 * mib}\nvitrine`,
      )
      expect(await say(to, 'sha256sum < large')).toBe(await say(from, 'sha256sum < large'))
    })

    it('many small ones too', async () => {
      const { sandbox: from } = await newSandbox(make, { watch: false })
      const { sandbox: to } = await newSandbox(make, { watch: false })
      await from.exec('for i in $(seq 5); do mkdir d$i; (cd d$i; seq 200 | split -l 1 -a 3 - f); done')
      expect(await carry(from, to)).toMatchObject({ files: 1_000, directories: 5 })
      expect(await say(to, 'cat d*/f* | sha256sum')).toBe(await say(from, 'cat d*/f* | sha256sum'))
    })
  })
}
