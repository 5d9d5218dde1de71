import { describe, expect, it } from 'vitest'
import {
  isIdenticalReplacement,
  isRewritten,
  isUnmodified,
  mayBeRewritten,
} from '../../src/watching/content-comparison.ts'
import type { EntryStat } from '../../src/watching/entry-stat.ts'
import { untouched } from '../../src/watching/image.ts'
import { statOf } from './nodes.ts'

const read = (digest: string) => ({ bytes: Buffer.from(digest), digest, stat: statOf() })
const known = { stat: statOf(), digest: 'known', image: {} }
const unread = { stat: statOf(), digest: undefined, image: untouched }
/** Could not be read when its image was chosen, but in a later check. */
const omitted = { ...known, image: { omitted: 'unreadable' } }
const unreadable = { stat: statOf(), digest: undefined, image: { omitted: 'unreadable' } }

/** A write whose mtime was reset shows only in the ctime. */
const ctimeOnly: Partial<EntryStat> = { changed: 3_000 }
const newLink: Partial<EntryStat> = { changed: 3_000, links: 2 }

describe('a file at its known path', () => {
  it.each([
    { title: 'has the same attributes', now: {}, content: undefined },
    { title: 'has the same attributes and content', now: {}, content: read('known') },
    { title: 'has a new ctime but the same content', now: ctimeOnly, content: read('known') },
    { title: 'has a new hard link and cannot be read', now: newLink, content: undefined },
  ])('is unmodified if it $title', ({ now, content }) => {
    expect(isUnmodified(known, statOf(now), content)).toBe(true)
  })

  it.each([
    { title: 'has other content behind the same attributes', now: {}, content: read('other') },
    { title: 'has a new ctime and other content', now: ctimeOnly, content: read('other') },
    { title: 'has a new hard link and other content', now: newLink, content: read('other') },
    { title: 'has a new ctime and cannot be read', now: ctimeOnly, content: undefined },
    { title: 'has a new size', now: { size: 4 }, content: undefined },
    { title: 'has a new mtime but the same content', now: { modified: 3_000 }, content: read('known') },
    { title: 'has a new mode but the same content', now: { mode: 0o600 }, content: read('known') },
  ])('is modified if it $title', ({ now, content }) => {
    expect(isUnmodified(known, statOf(now), content)).toBe(false)
  })

  it('that was never read is judged by its attributes', () => {
    expect(isUnmodified(unread, statOf(), read('any'))).toBe(true)
    expect(isUnmodified(unread, statOf(newLink), read('any'))).toBe(true)
    expect(isUnmodified(unread, statOf(ctimeOnly), read('any'))).toBe(false)
  })
})

describe('a file that replaced another one', () => {
  it.each([
    { title: 'only inode and ctime differ', now: {}, content: read('known'), identical: true },
    { title: 'the content differs', now: {}, content: read('other'), identical: false },
    { title: 'it cannot be read', now: {}, content: undefined, identical: false },
    { title: 'the mode differs', now: { mode: 0o600 }, content: read('known'), identical: false },
    { title: 'the mtime differs', now: { modified: 3_000 }, content: read('known'), identical: false },
  ])('is identical to it: $identical, if $title', ({ now, content, identical }) => {
    const replacement = statOf({ ino: 11, born: 3_000, changed: 3_000, ...now })
    expect(isIdenticalReplacement(known, replacement, content)).toBe(identical)
  })

  it('is not identical to a file that was never read', () => {
    expect(isIdenticalReplacement(unread, statOf({ ino: 11 }), read('any'))).toBe(false)
  })
})

describe('a moved file', () => {
  it.each([
    { title: 'its content is known', before: known, now: ctimeOnly, reads: true },
    { title: 'it could not be read before', before: unreadable, now: ctimeOnly, reads: true },
    { title: 'its size differs', before: unread, now: { size: 4 }, reads: true },
    { title: 'its mtime differs', before: unread, now: { modified: 3_000 }, reads: true },
    { title: 'it was never read and only its ctime differs', before: unread, now: ctimeOnly, reads: false },
  ])('has to be read: $reads, if $title', ({ before, now, reads }) => {
    expect(mayBeRewritten(before, statOf(now))).toBe(reads)
  })

  it.each([
    { title: 'its content is the same', before: known, now: ctimeOnly, content: read('known'), is: false },
    { title: 'its content differs', before: known, now: ctimeOnly, content: read('other'), is: true },
    { title: 'its size differs', before: known, now: { size: 4 }, content: undefined, is: true },
    { title: 'it can be read now', before: unreadable, now: ctimeOnly, content: read('any'), is: true },
    { title: 'its image is omitted', before: omitted, now: ctimeOnly, content: read('known'), is: true },
    { title: 'it still cannot be read', before: unreadable, now: ctimeOnly, content: undefined, is: false },
    { title: 'it was not read', before: unread, now: ctimeOnly, content: undefined, is: false },
  ])('was rewritten: $is, if $title', ({ before, now, content, is }) => {
    expect(isRewritten(before, statOf(now), content)).toBe(is)
  })

  it('is no file that was written to if it is a directory with new times', () => {
    const directory = { stat: statOf({ kind: 'directory' }), digest: undefined, image: untouched }
    const now = statOf({ kind: 'directory', size: 4_096, modified: 3_000 })
    expect(mayBeRewritten(directory, now)).toBe(false)
    expect(isRewritten(directory, now, undefined)).toBe(false)
  })
})
