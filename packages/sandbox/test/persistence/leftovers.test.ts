import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openBelow } from '../../../archives/test/fixtures/open-descriptors.ts'
import { tarOf } from '../../../archives/test/fixtures/tar-bytes.ts'
import { scene } from './fixtures/workspace.ts'

const good = tarOf({ name: 'd/f', content: 'x'.repeat(20_000) }, { name: 'd/l', type: '2', target: 'f' })
const bad = tarOf({ name: 'd/f', content: 'x'.repeat(20_000) }, { name: '../x' })
const taken = tarOf({ name: 'd/f', content: 'x'.repeat(200_000) })

type Files = Awaited<ReturnType<typeof scene>>['sandbox']

const half = () =>
  new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(taken.subarray(0, 100_000))),
  })

const calls: readonly (readonly [name: string, call: (sandbox: Files) => Promise<unknown>])[] = [
  ['upload', ({ files }) => files.upload('in', good)],
  ['upload that is refused', ({ files }) => files.upload('in', bad)],
  ['upload that is cut off', ({ files }) => files.upload('in', good.subarray(0, 700))],
  ['upload of what is damaged', ({ files }) => files.upload('in', gzipSync(good).subarray(0, 60))],
  ['upload into a file', ({ files }) => files.upload('file', good)],
  ['upload over a link', ({ files }) => files.upload('over', tarOf({ name: 'link/f' }))],
  [
    'upload that is called off',
    ({ files }) => files.upload('in', half(), { signal: AbortSignal.timeout(30) }),
  ],
  ['extract', ({ files }) => files.extract('a.tar', good)],
  ['extract that is refused', ({ files }) => files.extract('b.tar', bad)],
  ['extract of one that is there', ({ files }) => files.extract('there.tar')],
  ['extract of a bad one that is there', ({ files }) => files.extract('bad.tar')],
  ['extract of no zip', ({ files }) => files.extract('a.zip', good)],
  [
    'extract that is called off',
    ({ files }) => files.extract('c.tar', half(), { signal: AbortSignal.timeout(30) }),
  ],
  ['extract over a directory', ({ files }) => files.extract('over', good, { scheme: 'tar' })],
  ['hydrate', (sandbox) => sandbox.hydrate(good)],
  ['hydrate that is refused', (sandbox) => sandbox.hydrate(bad)],
  ['hydrate that is cut off', (sandbox) => sandbox.hydrate(good.subarray(0, 700))],
  ['hydrate that is called off', (sandbox) => sandbox.hydrate(half(), { signal: AbortSignal.timeout(30) })],
  ['hydrate of no bytes', (sandbox) => sandbox.hydrate('x' as never)],
  ['download', async ({ files }) => new Response(await files.download('over')).arrayBuffer()],
  ['download that is left', async ({ files }) => (await files.download('over')).cancel()],
  ['download of nothing', ({ files }) => files.download('missing')],
  ['persist', async (sandbox) => new Response(await sandbox.persist()).arrayBuffer()],
  ['persist that is left', async (sandbox) => (await sandbox.persist()).cancel()],
  [
    'persist that is left halfway',
    async (sandbox) => {
      const reader = (await sandbox.persist()).getReader()
      await reader.read()
      await reader.cancel()
    },
  ],
]

describe('afterwards', () => {
  it('leaves nothing staged and nothing open after any outcome', async () => {
    const { sandbox, root, staged } = await scene({ watch: false })
    for (const [name, call] of calls) {
      await sandbox.hydrate(tarOf({ name: 'file', content: 'x' }, { name: 'over/f', content: 'x' }))
      await sandbox.exec('ln -s f over/link')
      await sandbox.files.write('there.tar', good)
      await sandbox.files.write('bad.tar', bad)
      const before = { open: openBelow(root).length, all: readdirSync('/proc/self/fd').length }
      await call(sandbox).catch(() => undefined)
      await sleep(10)
      const after = { open: openBelow(root).length, all: readdirSync('/proc/self/fd').length }
      expect({ name, staged: staged(), ...after }).toEqual({ name, staged: [], ...before })
    }
  })

  it('leaves nothing open after a shutdown in the middle of each call', async () => {
    for (const call of [
      (sandbox: Files) => sandbox.files.upload('in', half()),
      (sandbox: Files) => sandbox.files.extract('a.tar', half()),
      (sandbox: Files) => sandbox.hydrate(half()),
      (sandbox: Files) => sandbox.persist(),
      (sandbox: Files) => sandbox.files.download('.'),
    ]) {
      const { sandbox, root, staged } = await scene({ watch: false })
      await sandbox.exec('echo x > kept')
      const calling = call(sandbox).catch(() => undefined)
      await sleep(30)
      await sandbox.lifecycle.shutdown()
      await calling
      await sleep(10)
      expect({ open: openBelow(root), staged: staged(), kept: readdirSync(root) }).toEqual({
        open: [],
        staged: [],
        kept: ['kept'],
      })
    }
  })
})
