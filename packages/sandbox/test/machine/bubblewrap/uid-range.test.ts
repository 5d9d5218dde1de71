import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { takeUidRange, type UidRange } from '../../../src/machine/bubblewrap/uid-range.ts'
import { readRow } from '../../../src/machine/process-table.ts'

const folder = '/run/vitrine-uids'
const size = 65_536
const firstUid = 1 << 30
/** Three places that a sandbox of another test would have to guess. */
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
  it('begins where its place says, far above the users of the host', () => {
    const { first } = take()
    expect(first).toBe(firstUid + slot * size)
    expect(readFileSync(`${folder}/${slot}`, 'utf8')).toBe(`${process.pid} ${startedAt}`)
  })

  it('is nobody else’s while it is held, and free again afterwards', () => {
    const first = take()
    const second = take()
    expect(second.first).toBe(first.first + size)
    first.release()
    expect(take().first).toBe(first.first)
  })

  it('follows the last one with the first', () => {
    const last = take(16_383)
    expect(last.first).toBe(firstUid + 16_383 * size)
    expect(last.first + size).toBeLessThanOrEqual(0x8000_0000)
    expect(take(16_383).first).toBeLessThan(last.first)
  })

  it.each([
    ['a process that is gone', `2147483646 ${startedAt}`],
    ['a process whose number another has now', `${process.pid} ${startedAt + 1}`],
  ])('is taken from %s', (_name, owner) => {
    claimedBy(owner)
    expect(take().first).toBe(firstUid + slot * size)
  })

  it.each([
    ['a process that lives', `${process.pid} ${startedAt}`],
    ['whoever has not written its name yet', ''],
    ['a file that says nothing', 'what?'],
  ])('is not taken from %s', (_name, owner) => {
    const path = claimedBy(owner)
    expect(take().first).toBe(firstUid + (slot + 1) * size)
    expect(existsSync(path)).toBe(true)
  })
})
