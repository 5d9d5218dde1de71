import { describe, expect, it } from 'vitest'
import { KnownTree } from '../../src/watching/known-tree.ts'
import type { TreeNode } from '../../src/watching/node.ts'
import { directoryStat, statOf } from './nodes.ts'

function openTree() {
  const known = new KnownTree(directoryStat(1))
  const folder = known.add(known.root, 'folder', directoryStat(2))
  const file = known.add(folder, 'file', statOf())
  return { known, folder, file }
}

function rechecks(known: KnownTree): string[] {
  return [...known.takeRechecks()].flatMap(([{ path }, names]) =>
    [...names].map((name) => (path === '' ? name : `${path}/${name}`)),
  )
}

const paths = (nodes: Iterable<TreeNode>) => [...nodes].map(({ path }) => path)

describe('the known tree', () => {
  it('finds a file by its inode after its directory was moved', () => {
    const { known, folder, file } = openTree()
    known.move(folder, known.root, 'moved')
    expect(known.nodeOf(statOf())).toBe(file)
    expect(file.path).toBe('moved/file')
    expect(paths(known.directories())).toEqual(['', 'moved'])
  })

  it('does not take a new file with a reused inode number for a known one', () => {
    const { known } = openTree()
    expect(known.nodeOf(statOf({ born: 9_000 }))).toBeUndefined()
  })

  it('a dropped directory takes the entries below it along and stops their watches', () => {
    const { known, folder, file } = openTree()
    const below = known.add(folder, 'below', directoryStat(3))
    const stopped: string[] = []
    folder.unwatch = () => void stopped.push('folder')
    below.unwatch = () => void stopped.push('below')
    expect(known.entries).toBe(3)
    known.drop(folder)
    expect(known.entries).toBe(0)
    expect(stopped).toEqual(['below', 'folder'])
    expect(known.nodeOf(statOf())).toBeUndefined()
    expect([folder, below, file].map((node) => known.has(node))).toEqual([false, false, false])
  })

  it('schedules the other hard links of a changed file for a recheck, once', () => {
    const { known, folder, file } = openTree()
    known.add(known.root, 'link', statOf({ links: 2 }))
    expect(rechecks(known)).toEqual(['folder/file'])
    known.remember(file, statOf({ size: 4, links: 2 }), undefined)
    known.remember(file, statOf({ size: 5, links: 2 }), undefined)
    expect(rechecks(known)).toEqual(['link'])
    known.drop(folder)
    expect(rechecks(known)).toEqual(['link'])
    expect(rechecks(known)).toEqual([])
  })

  it('marks an entry as fresh if a further change could have the same timestamp', () => {
    const { known, file } = openTree()
    expect(file.fresh).toBe(false)
    // A ctime ahead of the clock is fresh, however long the test takes.
    known.remember(file, statOf({ changed: Date.now() + 60_000 }), undefined)
    expect(file.fresh).toBe(true)
  })
})
