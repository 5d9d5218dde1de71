import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { takeUidRange, type UidRange } from '../../../src/machine/bubblewrap/uid-range.ts'
import { readRow } from '../../../src/machine/process-table.ts'

const folder = '/run/vitrine-uids'
const size = 65_536
const firstUid = 1 << 30
/** Slots that sandboxes of other tests are unlikely to choose. */
const slot = 16_000 - (process.pid % 500) * 3

function take(start = slot): UidRange {
  const range = takeUidRange(start)
  onTestFinished(() => range.release())
  return range
}

function claimedBy(words: string, at = slot): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = `${folder}/${at}`
  writeFileSync(path, words)
  onTestFinished(() => rmSync(path, { force: true }))
  return path
}

const startedAt = readRow(process.pid)?.startedAt ?? 0

describe.runIf(process.getuid?.() === 0)('a range of user ids', () => {
  it('starts at its slot, far above the user ids of the host', () => {
    const { first } = take()
    expect(first).toBe(firstUid + slot * size)
    expect(readFileSync(`${folder}/${slot}`, 'utf8')).toBe(`${process.pid} ${startedAt}`)
  })

  it('is not given out twice while it is claimed, and is free after its release', () => {
    const first = take()
    const second = take()
    expect(second.first).toBe(first.first + size)
    first.release()
    expect(take().first).toBe(first.first)
  })

  it('continues with the first slot after the last', () => {
    const last = take(16_383)
    expect(last.first).toBe(firstUid + 16_383 * size)
    expect(last.first + size).toBeLessThanOrEqual(0x8000_0000)
    expect(take(16_383).first).toBeLessThan(last.first)
  })

  it.each([
    ['a process that has exited', `2147483646 ${startedAt}`],
    ['a process whose pid was reused', `${process.pid} ${startedAt + 1}`],
  ])('takes over the range of %s', (_name, owner) => {
    claimedBy(owner)
    expect(take().first).toBe(firstUid + slot * size)
  })

  it.each([
    ['a running process', `${process.pid} ${startedAt}`],
    ['a process that has not written its claim yet', ''],
    ['a file with an unknown format', 'what?'],
  ])('does not take over the range of %s', (_name, owner) => {
    const path = claimedBy(owner)
    expect(take().first).toBe(firstUid + (slot + 1) * size)
    expect(existsSync(path)).toBe(true)
  })
})
