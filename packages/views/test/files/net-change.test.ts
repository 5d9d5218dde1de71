import type { JournalEvent } from '@vitrine/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ChangedFile, changedFilesView, listChangedFiles, rebuild } from '../../src/index.ts'
import { event } from '../journal-items.ts'

/** A model file system that knows the original path of each file and emits events. */
interface Inode {
  readonly origin?: string
  readonly kind: 'file' | 'directory'
  readonly first?: string
  content?: string
  written?: true
}

const start: readonly [path: string, kind: Inode['kind']][] = [
  ['a', 'directory'],
  ['a/x', 'file'],
  ['a/y', 'file'],
  ['a/b', 'directory'],
  ['a/b/x', 'file'],
  ['b', 'directory'],
  ['b/x', 'file'],
  ['c', 'file'],
]

/** Numbers select among the files that exist at that step, so that every step has an effect. */
const step = fc.record({
  does: fc.constantFrom('file', 'directory', 'write', 'remove', 'move', 'move'),
  which: fc.nat(),
  into: fc.nat(),
  name: fc.constantFrom('a', 'b', 'c', 'x', 'y'),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function fileSystem() {
  const inodes = new Map<string, Inode>(
    start.map(([origin, kind]) => [
      origin,
      { origin, kind, ...(kind === 'file' && { first: `v0 ${origin}`, content: `v0 ${origin}` }) },
    ]),
  )
  const events: JournalEvent[] = []
  const record = (does: string, at: string, { kind }: Inode, data = {}) =>
    events.push(event(events.length + 1, `file.${does}`, { path: at, kind, ...data }))
  const below = (at: string) => [...inodes.keys()].filter((one) => one.startsWith(`${at}/`))

  function remove(at: string) {
    // The entries of a directory are removed before it, as in a real file system.
    for (const one of [...below(at).sort().reverse(), at]) {
      const inode = inodes.get(one)
      if (inode === undefined) continue
      inodes.delete(one)
      record('deleted', one, inode, inode.content === undefined ? {} : { before: inode.content })
    }
  }

  function move(from: string, to: string) {
    const inode = inodes.get(from)
    if (!inode || from === to || to.startsWith(`${from}/`) || from.startsWith(`${to}/`)) return
    remove(to)
    for (const one of [from, ...below(from)]) {
      const moving = inodes.get(one)
      inodes.delete(one)
      if (moving) inodes.set(to + one.slice(from.length), moving)
    }
    record('moved', to, inode, { previousPath: from })
  }

  function take({ does, which, into, name }: Step) {
    const paths = [...inodes.keys()].sort()
    const at = paths[which % paths.length] ?? ''
    const inode = inodes.get(at)
    const directories = ['', ...paths.filter((one) => inodes.get(one)?.kind === 'directory')]
    const directory = directories[into % directories.length] ?? ''
    const to = directory === '' ? name : `${directory}/${name}`
    const content = `v${events.length + 1}`
    if (does === 'move') return move(at, to)
    if (does === 'remove') return remove(at)
    if (does === 'write') {
      if (inode?.kind !== 'file') return
      record('changed', at, inode, { before: inode.content, after: content })
      inode.content = content
      inode.written = true
      return
    }
    if (inodes.has(to)) return
    const fresh: Inode = { kind: does === 'file' ? 'file' : 'directory', ...(does === 'file' && { content }) }
    inodes.set(to, fresh)
    record('created', to, fresh, does === 'file' ? { after: content } : {})
  }

  return { inodes, events, take }
}

type Expected = Omit<ChangedFile, 'seq'>

/** The difference between the start and now, computed from the model. */
function difference(inodes: ReadonlyMap<string, Inode>): Expected[] {
  const left = new Set([...inodes.values()].map(({ origin }) => origin))
  const lost = new Map(start.filter(([origin]) => !left.has(origin)))
  const firstOf = (at: string) => (lost.get(at) === 'file' ? { before: `v0 ${at}` } : {})
  const result: Expected[] = []
  for (const [at, { origin, kind, first, content, written }] of inodes) {
    const after = content === undefined ? {} : { after: content }
    const images = written && first !== undefined ? { before: first, ...after } : {}
    const parent = at.includes('/') ? inodes.get(at.slice(0, at.lastIndexOf('/'))) : { origin: '' }
    const implied = [parent?.origin, at.split('/').at(-1)].filter((part) => part !== '').join('/')
    if (origin === undefined) {
      const change = lost.has(at) ? 'changed' : 'created'
      result.push({ path: at, change, kind, ...firstOf(at), ...after })
    } else if (origin === at) {
      if (written) result.push({ path: at, change: 'changed', kind, ...images })
    } else if (written || parent?.origin === undefined || implied !== origin) {
      const replaced = lost.has(at) ? { replaced: true as const } : {}
      result.push({ path: at, change: 'moved', kind, from: origin, ...images, ...replaced })
    }
  }
  // Events do not show which file moved to a path inside a moved directory, so the lost one is still listed.
  const listed = new Set(result.map((file) => file.path))
  for (const [at, kind] of lost) {
    if (!listed.has(at)) result.push({ path: at, change: 'deleted', kind, ...firstOf(at) })
  }
  return result.sort((a, b) => (a.path < b.path ? -1 : 1))
}

it('the view equals the difference between the file system at the start and now', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const { inodes, events, take } = fileSystem()
      for (const one of steps) take(one)
      const listed = listChangedFiles(rebuild(changedFilesView, events))
        .map(({ seq: _seq, ...file }): Expected => file)
        .sort((a, b) => (a.path < b.path ? -1 : 1))
      expect(listed).toEqual(difference(inodes))
    }),
    { numRuns: 1000 },
  )
})
