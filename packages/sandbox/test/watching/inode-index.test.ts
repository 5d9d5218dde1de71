import { describe, expect, it } from 'vitest'
import { InodeIndex } from '../../src/watching/inode-index.ts'
import { nodeOf } from './nodes.ts'

function indexOf(...nodes: ReturnType<typeof nodeOf>[]): InodeIndex {
  const index = new InodeIndex()
  for (const node of nodes) index.add(node)
  return index
}

describe('the inode index', () => {
  it('finds a node by its inode number until it is forgotten', () => {
    const [a, b] = [nodeOf('a', { ino: 1 }), nodeOf('b', { ino: 2 })]
    const index = indexOf(a, b)
    expect([index.at(1), index.at(2), index.at(3)]).toEqual([a, b, undefined])
    index.forget(a)
    expect([index.at(1), index.at(2)]).toEqual([undefined, b])
  })

  it('knows the other hard links of a file, and none of a file with one name', () => {
    const [a, b, c, single] = [nodeOf('a'), nodeOf('b'), nodeOf('c'), nodeOf('single', { ino: 11 })]
    const index = indexOf(a, b, c, single)
    expect(index.otherLinks(a)).toEqual([b, c])
    expect(index.otherLinks(c)).toEqual([a, b])
    expect(index.otherLinks(single)).toEqual([])
  })

  it('finds a file by a remaining hard link when the last added one is forgotten', () => {
    const [a, b, c] = [nodeOf('a'), nodeOf('b'), nodeOf('c')]
    const index = indexOf(a, b, c)
    index.forget(c)
    expect(index.at(10)).toBe(a)
    expect(index.otherLinks(a)).toEqual([b])
    index.forget(a)
    expect(index.at(10)).toBe(b)
    expect(index.otherLinks(b)).toEqual([])
    index.forget(b)
    expect(index.at(10)).toBeUndefined()
  })

  it('keeps the node that reused an inode number when the earlier one is forgotten', () => {
    const [earlier, later] = [nodeOf('earlier'), nodeOf('later', { born: 5_000 })]
    const index = indexOf(earlier, later)
    index.forget(earlier)
    expect(index.at(10)).toBe(later)
    expect(index.otherLinks(later)).toEqual([])
  })

  it('does not take two directories with one inode number for hard links', () => {
    const [a, b] = [nodeOf('a', { kind: 'directory' }), nodeOf('b', { kind: 'directory' })]
    const index = indexOf(a, b)
    expect(index.at(10)).toBe(b)
    expect(index.otherLinks(a)).toEqual([])
  })

  it('adding a node twice makes it no hard link of itself', () => {
    const a = nodeOf('a')
    const index = indexOf(a, a)
    expect(index.otherLinks(a)).toEqual([])
    index.forget(a)
    expect(index.at(10)).toBeUndefined()
  })
})
