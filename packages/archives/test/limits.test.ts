import { describe, expect, it } from 'vitest'
import { ArchiveTally, defaultLimits } from '../src/limits.ts'

const tooLarge = (limit: string) =>
  expect.objectContaining({
    code: 'archive_too_large',
    message: expect.stringContaining(limit),
    details: expect.objectContaining({ limit }),
  })

describe('a limit of archives', () => {
  it('the default limits are generous', () =>
    expect(defaultLimits).toEqual({
      inputBytes: 8 * 1024 ** 3,
      expandedBytes: 16 * 1024 ** 3,
      members: 1_000_000,
      ratio: 200,
    }))

  it('limits the input bytes', () => {
    const tally = new ArchiveTally({ inputBytes: 10 })
    tally.input(10)
    expect(() => tally.input(1)).toThrow(tooLarge('inputBytes'))
  })

  it('limits the unpacked bytes', () => {
    const tally = new ArchiveTally({ expandedBytes: 10 })
    tally.expanded(10)
    expect(() => tally.expanded(1)).toThrow(tooLarge('expandedBytes'))
  })

  it('limits the number of members', () => {
    const tally = new ArchiveTally({ members: 2 })
    tally.member('a')
    tally.member('b')
    expect(() => tally.member('c')).toThrow(tooLarge('members'))
  })

  it('limits the compression ratio above 64 MiB', () => {
    const tally = new ArchiveTally({ ratio: 10 })
    tally.input(1)
    tally.expanded(64 * 1024 ** 2)
    expect(() => tally.expanded(1)).toThrow(tooLarge('ratio'))
    const honest = new ArchiveTally({ ratio: 10 })
    honest.input(10 * 1024 ** 2)
    honest.expanded(100 * 1024 ** 2)
    expect(() => honest.expanded(1)).toThrow(tooLarge('ratio'))
  })

  it('counts the names that are held in memory', () => {
    const tally = new ArchiveTally()
    expect(() => {
      for (let round = 0; round < 300; round += 1) tally.name('x'.repeat(1024 ** 2))
    }).toThrow(expect.objectContaining({ code: 'archive_too_large' }))
  })
})
