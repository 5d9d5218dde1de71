import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isGap } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../archives/test/fixtures/folder.ts'
import { openSandbox } from '../fixtures/sandbox.ts'
import { isRoot, mounted, remount } from './fixtures/mounted.ts'

const name = '.vitrine-staging'
const machines = ['none', 'bubblewrap'] as const

if (!isRoot) console.warn('SKIPPED: no file systems are mounted: it takes root.')

describe.skipIf(!isRoot)('a workspace that is a file system of its own', () => {
  it.each(machines)('publishes complete files and leaves no staging folder behind: %s', async (isolation) => {
    const root = mounted('8m')
    const sandbox = await openSandbox({ root, isolation })
    await sandbox.files.write('a/b', 'x', { parents: true })
    await sandbox.files.write('a/b', 'y', { append: true })
    await sandbox.files.flush()
    const { events } = await sandbox.journal.read({ types: ['file.*'], limit: 100 })
    expect(events.map((event) => (isGap(event) ? '' : event.data.path))).not.toContain(name)
    expect((await sandbox.files.search('.', { name: '*' })).hits.map(({ path }) => path)).toEqual([
      'a',
      'a/b',
    ])
    await sandbox.files.remove('a', { recursive: true })
    await sandbox.lifecycle.shutdown()
    expect(readdirSync(root)).toEqual([])
  })

  it.each(machines)('writes files even after a command removed the staging folder: %s', async (isolation) => {
    const sandbox = await openSandbox({ root: mounted('8m'), isolation })
    await sandbox.exec(`rm -rf ${name}`)
    await sandbox.files.write('one', '1')
    await sandbox.exec(`rm -rf ${name}; ln -s /etc ${name}`)
    await sandbox.files.write('two', '2')
    await sandbox.files.mkdir('d')
    await sandbox.files.remove('d', { recursive: true })
    expect((await sandbox.exec('cat one two')).stdout).toBe('12')
  })

  it.each(machines)('never follows a link that has the name of the staging folder: %s', async (isolation) => {
    const victim = folder()
    mkdirSync(join(victim, 'deep'))
    writeFileSync(join(victim, 'deep/precious'), 'kept')
    const root = mounted('8m')
    symlinkSync(victim, join(root, name))
    const sandbox = await openSandbox({ root, isolation })
    await sandbox.files.write('file', 'x')
    await sandbox.exec(`rm -rf ${name}; ln -s ${victim} ${name}`)
    await sandbox.lifecycle.shutdown()
    await sandbox.lifecycle.start()
    await sandbox.files.write('file', 'y')
    await sandbox.lifecycle.shutdown()
    expect(readFileSync(join(victim, 'deep/precious'), 'utf8')).toBe('kept')
    expect(readdirSync(victim)).toEqual(['deep'])
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('y')
  })

  it('a full disk leaves existing, appended and new files unchanged', async () => {
    const root = mounted('1m')
    const sandbox = await openSandbox({ root, isolation: 'none', watch: false })
    const { files } = sandbox
    await files.write('kept', 'old content')
    const large = () => new Blob([new Uint8Array(3_000_000)]).stream()
    for (const data of [large(), new Uint8Array(3_000_000)])
      await expect(files.write('kept', data)).rejects.toMatchObject({ code: 'disk_full' })
    await expect(files.write('kept', large(), { append: true })).rejects.toMatchObject({ code: 'disk_full' })
    await expect(files.write('new/er', large(), { parents: true })).rejects.toMatchObject({
      code: 'disk_full',
    })
    // The staging disk has space, and the disk of the target has none.
    await expect(files.write('kept', new Uint8Array(700_000), { append: true })).rejects.toMatchObject({
      code: 'disk_full',
    })
    expect(readFileSync(join(root, 'kept'), 'utf8')).toBe('old content')
    expect(readdirSync(root).toSorted()).toEqual([name, 'kept'].toSorted())
    expect(readdirSync(join(root, name))).toEqual([])
    await files.write('kept', 'new content')
    expect(readFileSync(join(root, 'kept'), 'utf8')).toBe('new content')
  })

  it('can be read, and reports file_read_only, after a read-only remount', async () => {
    const root = mounted('8m')
    const sandbox = await openSandbox({ root, isolation: 'none', watch: false })
    const { files } = sandbox
    await files.write('kept', 'old')
    await files.mkdir('folder')
    remount(root, 'ro')
    try {
      for (const call of [
        () => files.write('kept', 'new'),
        () => files.write('kept', 'new', { append: true }),
        () => files.write('x', 'new'),
        () => files.mkdir('y'),
        () => files.move('kept', 'z'),
        () => files.remove('kept'),
        () => files.remove('folder', { recursive: true }),
        () => files.chmod('kept', 0o600),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'file_read_only' })
      expect(await new Response(await files.read('kept')).text()).toBe('old')
    } finally {
      remount(root, 'rw')
    }
    expect(readFileSync(join(root, 'kept'), 'utf8')).toBe('old')
  })
})

describe.skipIf(!isRoot)('a place on another file system', () => {
  it('publishes complete files on another file system and leaves no temporary file', async () => {
    const other = mounted('2m')
    const sandbox = await openSandbox({ isolation: 'none', grants: [{ path: other, writable: true }] })
    const { files } = sandbox
    const path = (rest: string) => join(other, rest)
    await files.write(path('a/b'), 'one', { parents: true, mode: 0o640 })
    await files.write(path('a/b'), 'two')
    await files.write(path('a/b'), '+', { append: true })
    expect([readFileSync(path('a/b'), 'utf8'), lstatSync(path('a/b')).mode & 0o777]).toEqual(['two+', 0o640])
    await expect(files.write(path('a/b'), new Uint8Array(4_000_000))).rejects.toMatchObject({
      code: 'disk_full',
    })
    await expect(files.write(path('a/b'), new Uint8Array(4_000_000), { append: true })).rejects.toMatchObject(
      {
        code: 'disk_full',
      },
    )
    expect([readFileSync(path('a/b'), 'utf8'), readdirSync(path('a'))]).toEqual(['two+', ['b']])
    await expect(files.move(path('a/b'), 'mine')).rejects.toMatchObject({ code: 'unsupported' })
    await files.remove(path('a'), { recursive: true })
    expect(existsSync(path('a'))).toBe(false)
    expect(readdirSync(other)).toEqual([])
  })
})
