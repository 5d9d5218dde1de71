import { describe, expect, it } from 'vitest'
import { type Image, untouched } from '../../src/watching/image.ts'
import { changedImage, newImage } from '../../src/watching/image-choice.ts'
import { statOf } from './nodes.ts'

const maxBytes = 10
const bytes = Buffer.from('new')
const content = { bytes, digest: 'new', stat: statOf() }

describe('the image of a new file', () => {
  it.each([
    { name: 'file', size: 3, read: content, chosen: { after: {}, content: bytes } },
    { name: 'file', size: 10, read: content, chosen: { after: {}, content: bytes } },
    { name: 'file', size: 11, read: undefined, chosen: { after: { omitted: 'size' } } },
    { name: 'file', size: 3, read: undefined, chosen: { after: { omitted: 'unreadable' } } },
    { name: '.env', size: 3, read: content, chosen: { after: { omitted: 'private' } } },
    { name: '.env.local', size: 11, read: undefined, chosen: { after: { omitted: 'private' } } },
    { name: 'my.env', size: 3, read: content, chosen: { after: {}, content: bytes } },
  ])('is $chosen.after for $name of $size bytes, read: $read.digest', ({ name, size, read, chosen }) => {
    expect(newImage(name, size, read, maxBytes)).toStrictEqual(chosen)
  })
})

describe('the image of a changed file', () => {
  const stored: Image = { hash: 'sha256:stored' }
  const known = { name: 'file', image: stored, digest: 'new' }

  it('is the stored one, and stores nothing, if the content is as known', () => {
    const chosen = changedImage(known, 3, content, maxBytes)
    expect(chosen).toStrictEqual({ after: stored })
    // The same object: the recorder sets the hash of a change that is not committed yet.
    expect(chosen.after).toBe(stored)
  })

  it.each([
    { title: 'has other content', known: { ...known, digest: 'old' } },
    { title: 'was not read before', known: { ...known, digest: undefined } },
    { title: 'was not stored since the initial scan', known: { ...known, image: untouched } },
  ])('is a new one with the content if the file $title', ({ known: before }) => {
    const chosen = changedImage(before, 3, content, maxBytes)
    expect(chosen).toStrictEqual({ after: {}, content: bytes })
    expect(chosen.after).not.toBe(before.image)
  })

  it('is omitted if the file cannot be read any more or has become too large', () => {
    expect(changedImage(known, 3, undefined, maxBytes)).toStrictEqual({ after: { omitted: 'unreadable' } })
    expect(changedImage(known, 11, undefined, maxBytes)).toStrictEqual({ after: { omitted: 'size' } })
  })
})
