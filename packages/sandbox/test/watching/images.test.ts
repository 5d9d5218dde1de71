import { hash } from 'node:crypto'
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openScene, type Scene, type SceneOptions } from './fixture.ts'

const hashOf = (text: string) => `sha256:${hash('sha256', text)}`

async function changesOf(scene: Scene, path: string): Promise<Record<string, unknown>[]> {
  await scene.watcher.flush()
  return (await scene.events())
    .filter(({ type, data }) => type.startsWith('file.') && data.path === path)
    .map(({ type, data }) => ({ type, ...data }))
}

async function stored(scene: Scene, blob: unknown): Promise<string> {
  return new Response((await scene.store.getBlob(String(blob))).stream).text()
}

// The poller checks only during a flush: a check between the creation of a file and its first byte would see two changes.
describe.each<SceneOptions>([{ mode: 'native' }, { mode: 'poll', intervalMs: 1e8 }])(
  'images, $mode',
  (options) => {
    it("each event's before is the previous event's after, through moves up to the deletion", async () => {
      const scene = await openScene(options)
      const file = join(scene.root, 'file')
      writeFileSync(file, 'one')
      expect(await changesOf(scene, 'file')).toMatchObject([
        { type: 'file.created', after: hashOf('one'), size: 3 },
      ])
      writeFileSync(file, 'second')
      expect((await changesOf(scene, 'file')).at(-1)).toMatchObject({
        type: 'file.changed',
        before: hashOf('one'),
        after: hashOf('second'),
        size: 6,
      })
      renameSync(file, join(scene.root, 'other'))
      expect(await changesOf(scene, 'other')).toMatchObject([
        { type: 'file.moved', previousPath: 'file', before: hashOf('second'), after: hashOf('second') },
      ])
      rmSync(join(scene.root, 'other'))
      expect((await changesOf(scene, 'other')).at(-1)).toMatchObject({
        type: 'file.deleted',
        before: hashOf('second'),
      })
      expect(await stored(scene, hashOf('one'))).toBe('one')
      expect(await stored(scene, hashOf('second'))).toBe('second')
    })

    it('reports an unknown before for files that existed at the start', async () => {
      const scene = await openScene({
        ...options,
        prepare: (root) => writeFileSync(join(root, 'old'), 'old'),
      })
      writeFileSync(join(scene.root, 'old'), 'newer')
      const [change] = await changesOf(scene, 'old')
      expect(change).toMatchObject({ type: 'file.changed', beforeUnknown: true, after: hashOf('newer') })
      expect(change).not.toHaveProperty('before')
    })

    it('a change of mode keeps the stored content', async () => {
      const scene = await openScene({
        ...options,
        prepare: (root) => writeFileSync(join(root, 'old'), 'old'),
      })
      chmodSync(join(scene.root, 'old'), 0o600)
      expect(await changesOf(scene, 'old')).toMatchObject([{ beforeUnknown: true, after: hashOf('old') }])
      chmodSync(join(scene.root, 'old'), 0o640)
      expect((await changesOf(scene, 'old')).at(-1)).toMatchObject({
        before: hashOf('old'),
        after: hashOf('old'),
      })
    })

    it.each(['.env', '.env.local', '.envrc', 'sub/.env'])(
      'never stores the content of %s, however often it changes',
      async (path) => {
        const scene = await openScene({ ...options, prepare: (root) => mkdirSync(join(root, 'sub')) })
        const file = join(scene.root, path)
        writeFileSync(file, 'KEY=1')
        await scene.watcher.flush()
        writeFileSync(file, 'KEY=22')
        await scene.watcher.flush()
        chmodSync(file, 0o600)
        const changes = await changesOf(scene, path)
        expect(changes).toHaveLength(3)
        for (const change of changes) {
          expect(change).toMatchObject({ afterOmitted: 'private' })
          expect(change).not.toHaveProperty('after')
          expect(change).not.toHaveProperty('before')
        }
        for (const text of ['KEY=1', 'KEY=22'])
          await expect(scene.store.getBlob(hashOf(text))).rejects.toMatchObject({ code: 'blob_not_found' })
      },
    )

    it('omits contents above the size limit and stores smaller ones again', async () => {
      const scene = await openScene({ ...options, imageBytes: 10 })
      writeFileSync(join(scene.root, 'file'), 'x'.repeat(11))
      expect(await changesOf(scene, 'file')).toMatchObject([{ afterOmitted: 'size', size: 11 }])
      chmodSync(join(scene.root, 'file'), 0o600)
      expect((await changesOf(scene, 'file')).at(-1)).toMatchObject({
        beforeUnknown: true,
        afterOmitted: 'size',
      })
      writeFileSync(join(scene.root, 'file'), 'x'.repeat(10))
      expect((await changesOf(scene, 'file')).at(-1)).toMatchObject({
        beforeUnknown: true,
        after: hashOf('x'.repeat(10)),
      })
    })

    it('stores contents up to the total limit and reports once that it was reached', async () => {
      const scene = await openScene({ ...options, imagesTotalBytes: 25 })
      for (const name of ['a', 'b', 'c', 'd']) {
        writeFileSync(join(scene.root, name), name.repeat(10))
        await scene.watcher.flush()
      }
      chmodSync(join(scene.root, 'd'), 0o600)
      expect((await changesOf(scene, 'b'))[0]).toHaveProperty('after')
      for (const name of ['c', 'd'])
        for (const change of await changesOf(scene, name)) {
          expect(change).toMatchObject({ afterOmitted: 'budget' })
          expect(change).not.toHaveProperty('after')
        }
      const limits = (await scene.events()).filter(({ type }) => type === 'limit.reached')
      expect(limits.map(({ data }) => data)).toEqual([
        expect.objectContaining({ limit: 'watch.imagesTotalBytes', max: 25 }),
      ])
    })

    it('masks secrets in stored contents and hashes them as stored', async () => {
      const scene = await openScene(options)
      scene.store.addSecret('TOKEN', 'hunter2-planted')
      writeFileSync(join(scene.root, 'config'), 'key = hunter2-planted\n')
      const masked = 'key = [redacted:TOKEN]\n'
      const [created] = await changesOf(scene, 'config')
      expect(created).toMatchObject({ after: hashOf(masked), redacted: true })
      expect(await stored(scene, created?.after)).toBe(masked)
      await expect(scene.store.getBlob(hashOf('key = hunter2-planted\n'))).rejects.toMatchObject({
        code: 'blob_not_found',
      })
      writeFileSync(join(scene.root, 'config'), 'nothing to hide\n')
      expect((await changesOf(scene, 'config')).at(-1)).toMatchObject({
        before: hashOf(masked),
        after: hashOf('nothing to hide\n'),
        redacted: true,
      })
      chmodSync(join(scene.root, 'config'), 0o600)
      expect((await changesOf(scene, 'config')).at(-1)).not.toHaveProperty('redacted')
    })

    it('never stores contents of ignored files', async () => {
      const scene = await openScene(options)
      for (const name of ['.git', 'node_modules']) {
        mkdirSync(join(scene.root, name))
        writeFileSync(join(scene.root, name, 'inside'), `of ${name}`)
        await scene.watcher.flush()
        await expect(scene.store.getBlob(hashOf(`of ${name}`))).rejects.toMatchObject({
          code: 'blob_not_found',
        })
      }
      expect((await scene.events()).filter(({ type }) => type.startsWith('file.'))).toEqual([])
    })

    it('stores no content when the size limit is 0, but still reports changes', async () => {
      const scene = await openScene({ ...options, imageBytes: 0 })
      writeFileSync(join(scene.root, 'file'), 'x')
      expect(await changesOf(scene, 'file')).toMatchObject([
        { type: 'file.created', size: 1, afterOmitted: 'size' },
      ])
    })
  },
)
