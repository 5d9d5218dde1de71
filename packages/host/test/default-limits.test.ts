import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalOptions } from '@vitrine/sandbox'
import { expect, it } from 'vitest'
import { dataFolder, open } from './fixtures/data.ts'

function recordedLimits(data: string): LocalOptions['limits'] {
  return JSON.parse(readFileSync(join(data, 'records/limited.json'), 'utf8')).local.limits
}

/** Creates a sandbox on a machine that cannot limit /tmp, and attaches it on one that can. */
async function tmpAfterRestart(limits: LocalOptions['limits']) {
  const data = dataFolder()
  const host = await open(data)
  await host.create({ id: 'limited', local: { isolation: 'none', watch: false, ...(limits && { limits }) } })
  const before = recordedLimits(data)?.tmpBytes
  await host.close()
  const next = await open(data)
  const sandbox = await next.attach('limited', { isolation: 'bubblewrap' })
  const size = async () =>
    (await sandbox.exec('stat -f -c "%b %S" /tmp')).stdout
      .split(' ')
      .reduce((size, part) => size * Number(part), 1)
  return { before, after: recordedLimits(data)?.tmpBytes, size: await size() }
}

it('a default limit that a machine could not enforce is enforced by the next machine that can', async () => {
  const { before, after, size } = await tmpAfterRestart(undefined)
  expect(before).toBeUndefined()
  expect(after).toBeGreaterThan(0)
  // The kernel rounds up to pages.
  expect(size).toBe(Math.ceil((after || 0) / 4_096) * 4_096)
})

it('a limit that was switched off stays off', async () => {
  const { before, after } = await tmpAfterRestart({ tmpBytes: false })
  expect([before, after]).toEqual([false, false])
})
