import { describe, expect, it } from 'vitest'
import { differs, isSameEntry } from '../../src/watching/entry-stat.ts'
import { directoryStat, statOf } from './nodes.ts'

describe('two states belong to the same file', () => {
  it.each([
    {
      title: 'inode and birth time are equal, whatever was written',
      now: statOf({ size: 9, modified: 9 }),
      is: true,
    },
    { title: 'the inode differs', now: statOf({ ino: 11 }), is: false },
    { title: 'the birth time differs', now: statOf({ born: 9_000 }), is: false },
    { title: 'the kind differs', now: statOf({ kind: 'symlink' }), is: false },
    { title: 'the birth time is unknown and size and mtime are equal', now: statOf({ born: 0 }), is: true },
    { title: 'the birth time is unknown and the size differs', now: statOf({ born: 0, size: 9 }), is: false },
  ])('$is if $title', ({ now, is }) => {
    expect(isSameEntry(statOf(), now)).toBe(is)
  })

  it('if both are directories of one inode, whose times change with their entries', () => {
    expect(isSameEntry(directoryStat(2), { ...directoryStat(2), born: 0, modified: 9_000 })).toBe(true)
  })
})

describe('the difference between two states of a file', () => {
  it.each([
    { title: 'nothing changed', now: {}, difference: 'no' },
    { title: 'only the ctime changed', now: { changed: 9_000 }, difference: 'perhaps' },
    { title: 'the mtime changed', now: { modified: 9_000 }, difference: 'yes' },
    { title: 'the size changed', now: { size: 4 }, difference: 'yes' },
    { title: 'the mode changed', now: { mode: 0o600 }, difference: 'yes' },
    { title: 'the owner changed', now: { owner: 1 }, difference: 'yes' },
    { title: 'the group changed', now: { group: 1 }, difference: 'yes' },
  ])('is "$difference" if $title', ({ now, difference }) => {
    expect(differs(statOf(), statOf(now))).toBe(difference)
  })

  it('ignores the times and the size of a directory', () => {
    const before = directoryStat(2)
    expect(differs(before, { ...before, size: 9, modified: 9_000, changed: 9_000 })).toBe('no')
  })
})
