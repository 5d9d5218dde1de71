import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openBelow } from '../../../archives/test/fixtures/open-descriptors.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

const flush = () => new Promise((resolve) => setTimeout(resolve, 20))

describe('an open file', () => {
  it('leaves no descriptor open after any file operation, including refused ones', async () => {
    const sandbox = await openSandbox({ isolation: 'none', watch: false })
    const { files, root } = sandbox
    const data = join(root, '..')
    mkdirSync(join(root, 'a/b/c'), { recursive: true })
    symlinkSync('/etc', join(root, 'out'))
    symlinkSync('a', join(root, 'in'))
    writeFileSync(join(root, 'a/file'), 'needle')
    writeFileSync(join(root, 'large'), new Uint8Array(1_000_000))
    const before = openBelow(data)
    const failing = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.error(new Error('no'))
        },
      })
    for (let round = 0; round < 20; round += 1) {
      const calls = [
        files.read('large').then((stream) => stream.cancel()),
        files.read('large').then((stream) => new Response(stream).arrayBuffer()),
        files.read('in/file').then((stream) => new Response(stream).text()),
        files.read('out/hostname'),
        files.read('a'),
        files.write('in/b/new', 'x'),
        files.write('in/b/new', '+', { append: true }),
        files.write('x/y/z', 'x', { parents: true }),
        files.write('a/file', failing()),
        files.write('out/x', 'x', { parents: true }),
        files.write('a', 'x'),
        files.list('in/b'),
        files.list('out'),
        files.list('a', { limit: 1 }),
        files.stat('in'),
        files.exists('a/file/x'),
        files.mkdir(`m${round}/n/o`, { parents: true }),
        files.move(`m${round}`, `n${round}`),
        files.remove(`n${round}`, { recursive: true }),
        files.remove('a/b'),
        files.chmod('a/file', 0o644),
        files.search('.', { content: 'needle', limit: 1 }),
        files.search('.', { name: '*', limit: 2 }),
        files.search('out', { name: '*' }),
      ]
      await Promise.allSettled(calls)
    }
    await flush()
    expect(openBelow(data).toSorted()).toEqual(before.toSorted())
  })

  it('closes all files when the sandbox stops, including those of unread streams', async () => {
    const sandbox = await openSandbox({ isolation: 'none' })
    const data = join(sandbox.root, '..')
    writeFileSync(join(sandbox.root, 'large'), new Uint8Array(1_000_000))
    const streams = await Promise.all(Array.from({ length: 5 }, () => sandbox.files.read('large')))
    const writing = sandbox.files.write('never', new ReadableStream<Uint8Array>())
    const refused = expect(writing).rejects.toMatchObject({ code: 'cancelled' })
    await flush()
    await sandbox.lifecycle.shutdown()
    await refused
    await flush()
    expect(openBelow(data)).toEqual([])
    for (const stream of streams)
      await expect(stream.getReader().read()).rejects.toMatchObject({ code: 'cancelled' })
  })
})
