import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalOptions } from '@vitrine/sandbox'
import { expect, it } from 'vitest'
import { dataFolder, open } from './fixtures/data.ts'

function recordedLimits(data: string): LocalOptions['limits'] {
  return JSON.parse(readFileSync(join(data, 'records/limited.json'), 'utf8')).local.limits
}

/** Creates a sandbox on a machine that cannot limit /tmp, and attaches it on one that can. */
async function tmpAfterRestart(limits: LocalOptions['limits'], edit = (_path: string) => {}) {
  const data = dataFolder()
  const host = await open(data)
  await host.create({ id: 'limited', local: { isolation: 'none', watch: false, ...(limits && { limits }) } })
  const before = recordedLimits(data)?.tmpBytes
  await host.close()
  edit(join(data, 'records/limited.json'))
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

/** Makes a record one of a version that stored `false` also for a default that its machine could not enforce. */
function asEarlier(path: string): void {
  const { limitsAsGiven: _, ...record } = JSON.parse(readFileSync(path, 'utf8'))
  const limits = { ...record.local.limits, tmpBytes: false, memoryBytes: false }
  writeFileSync(path, JSON.stringify({ ...record, local: { ...record.local, limits } }))
}

it('a default limit that an earlier version recorded as switched off is a default again', async () => {
  const { after, size } = await tmpAfterRestart(undefined, asEarlier)
  expect(after).toBeGreaterThan(0)
  expect(size).toBe(Math.ceil((after || 0) / 4_096) * 4_096)
})

it('a limit that the first machine could enforce and an earlier version recorded as off stays off', async () => {
  const data = dataFolder()
  const host = await open(data)
  const local = { isolation: 'bubblewrap', watch: false, limits: { tmpBytes: false } } as const
  const { capabilities } = await host.create({ id: 'limited', local })
  expect(capabilities.limits).toContain('tmp')
  await host.close()
  asEarlier(join(data, 'records/limited.json'))
  const next = await open(data)
  await next.attach('limited')
  expect(recordedLimits(data)?.tmpBytes).toBe(false)
})
