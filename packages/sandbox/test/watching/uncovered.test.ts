import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OpenDirectory } from '../../src/watching/disk.ts'
import { openScene } from './fixture.ts'
import { openTreeScene } from './tree-scene.ts'

const denied = () => Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })

/** A directory that must not be read. */
function closed(real: OpenDirectory): OpenDirectory {
  return {
    ...real,
    names() {
      throw denied()
    },
    stat() {
      throw denied()
    },
    watch: () => ({ reason: 'It may not be read.' }),
  }
}

describe('uncovered directories', () => {
  it('reports directories without a kernel watch and follows everything else', async () => {
    const reason = 'The kernel has no more watches for this user.'
    const scene = await openTreeScene({
      prepare(root) {
        for (const name of ['one', 'two', 'two/three']) mkdirSync(join(root, name))
      },
      around: (path, real) => (path.startsWith('two') ? { ...real, watch: () => ({ reason }) } : real),
    })
    expect(scene.uncovered.toSorted()).toEqual([`two/three: ${reason}`, `two: ${reason}`])
    writeFileSync(join(scene.root, 'one/file'), 'seen')
    writeFileSync(join(scene.root, 'file'), 'seen')
    await scene.watcher.flush()
    expect((await scene.emitted()).toSorted()).toEqual(['created file', 'created one/file'])
  })

  it('reports every directory beyond the entry limit', async () => {
    const scene = await openScene({
      maxEntries: 2,
      prepare(root) {
        for (let index = 0; index < 6; index += 1) mkdirSync(join(root, `folder-${index}`))
      },
    })
    const { events } = await scene.journal.read({ types: ['watch.degraded'] })
    expect(events.map(({ data }) => data)).toMatchObject([{ count: 4 }])
    expect(events[0]?.data).toMatchObject({
      uncovered: Array.from({ length: 4 }, () => expect.stringMatching(/^folder-\d$/)),
    })
  })

  it('journals each uncovered directory once', async () => {
    const scene = await openScene({
      maxEntries: 3,
      prepare(root) {
        mkdirSync(join(root, 'many'))
        for (let index = 0; index < 10; index += 1) writeFileSync(join(root, 'many', `file-${index}`), '')
      },
    })
    const degraded = async () => (await scene.events()).filter(({ type }) => type === 'watch.degraded')
    expect((await degraded()).map(({ data }) => data)).toEqual([
      expect.objectContaining({
        uncovered: ['many'],
        reason: expect.stringContaining('maxEntries'),
      }),
    ])
    writeFileSync(join(scene.root, 'many/another'), '')
    await scene.watcher.flush()
    expect(await degraded()).toHaveLength(1)
    expect(scene.watcher.entries).toBe(3)
  })

  it('deleted entries free the entry limit for new ones', async () => {
    const scene = await openScene({ maxEntries: 2 })
    for (const name of ['a', 'b']) writeFileSync(join(scene.root, name), name)
    await scene.watcher.flush()
    rmSync(join(scene.root, 'a'))
    await scene.watcher.flush()
    writeFileSync(join(scene.root, 'c'), 'c')
    await scene.watcher.flush()
    const events = (await scene.events()).map(({ type, data }) => `${type} ${String(data.path)}`)
    expect(events).toContain('file.created c')
  })
})

describe('a directory that may not be read', () => {
  it('reports an unreadable directory, does not take it for empty, and scans it once it is readable', async () => {
    let open = false
    const scene = await openTreeScene({
      prepare(root) {
        mkdirSync(join(root, 'closed/below'), { recursive: true })
        writeFileSync(join(root, 'closed/below/file'), 'x')
        chmodSync(join(root, 'closed'), 0o700)
      },
      around: (path, real) => (path === 'closed' && !open ? closed(real) : real),
    })
    expect(scene.uncovered).toContain('closed: It may not be read.')
    await scene.watcher.flush()
    expect(await scene.emitted()).toEqual([])
    open = true
    chmodSync(join(scene.root, 'closed'), 0o755)
    await scene.watcher.flush()
    writeFileSync(join(scene.root, 'closed/below/file'), 'written')
    await scene.watcher.flush()
    const told = await scene.emitted()
    expect(told).toContain('changed closed')
    expect(told.some((line) => line.endsWith('closed/below/file'))).toBe(true)
  })

  it('keeps the known state of a directory that becomes unreadable, reports it, and catches up', async () => {
    let open = true
    const scene = await openTreeScene({
      prepare(root) {
        mkdirSync(join(root, 'door'))
        writeFileSync(join(root, 'door/kept'), 'x')
        writeFileSync(join(root, 'door/gone'), 'x')
      },
      around: (path, real) => (path === 'door' && !open ? closed(real) : real),
    })
    open = false
    chmodSync(join(scene.root, 'door'), 0o700)
    rmSync(join(scene.root, 'door/gone'))
    writeFileSync(join(scene.root, 'door/new'), 'x')
    await scene.watcher.flush()
    expect(await scene.emitted()).toEqual(['changed door'])
    expect(scene.uncovered).toContain('door: It may not be read.')
    open = true
    chmodSync(join(scene.root, 'door'), 0o755)
    await scene.watcher.flush()
    expect((await scene.emitted()).toSorted()).toEqual([
      'changed door',
      'changed door',
      'created door/new',
      'deleted door/gone',
    ])
  })

  it('reports an unreadable directory in a new one and follows its siblings', async () => {
    const scene = await openTreeScene({
      around: (path, real) => (path === 'new/closed' ? closed(real) : real),
    })
    mkdirSync(join(scene.root, 'new/closed'), { recursive: true })
    mkdirSync(join(scene.root, 'new/open'))
    writeFileSync(join(scene.root, 'new/open/file'), 'x')
    await scene.watcher.flush()
    expect(await scene.emitted()).toEqual(
      expect.arrayContaining(['created new/closed', 'created new/open/file']),
    )
    expect(scene.uncovered).toContain('new/closed: It may not be read.')
  })
})
