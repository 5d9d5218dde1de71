import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../files/content.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { records, tarOf } from './tar-bytes.ts'
import { additiveCalls } from './unpack-calls.ts'
import { changesNothing } from './workspace.ts'
import { zipOf } from './zip-bytes.ts'

const refused = { code: 'archive_refused' }

/** Regression cases from tests and measurements of other systems, with the names they have there. */
export function archiveRegressionCases(make: MakeSandbox): void {
  describe('archive regressions', () => {
    const shared = sharedSandbox(make)

    it.each(additiveCalls)('rejects symlink under preexisting symlink parent: $name', async ({ send }) => {
      const under = await shared()
      await under.sandbox.exec('mkdir -p here/real && ln -s real here/parent')
      await changesNothing(under, 'a link below a link', async () => {
        const archive = tarOf({ name: 'parent/link', type: '2', target: 'x' })
        await expect(send(under.sandbox, archive)).rejects.toMatchObject(refused)
      })
    })

    it('extract zip rejects symlinked parent paths', async () => {
      const under = await shared()
      await under.sandbox.exec('mkdir -p here && ln -s /tmp here/parent')
      await changesNothing(under, 'below a link', async () => {
        const zip = zipOf({ name: 'parent/evil', content: 'x' })
        await expect(under.sandbox.files.extract('here/a.zip', zip)).rejects.toMatchObject(refused)
      })
    })

    it('rejects global PAX path overrides before hydration side effects', async () => {
      const under = await shared()
      await under.sandbox.exec('echo kept > kept')
      await changesNothing(under, 'a global path', async () => {
        const global = { name: 'g', type: 'g', content: records({ path: 'kept' }) }
        await expect(under.sandbox.hydrate(tarOf(global, { name: 'f' }))).rejects.toMatchObject({
          code: expect.stringMatching(/^archive_/),
        })
      })
    })

    it('parses multibyte PAX records', async () => {
      const { sandbox } = await shared()
      const name = `é€/${'ü'.repeat(100)}`
      await sandbox.files.upload(
        'in',
        tarOf({ name: 'short', pax: { path: name, comment: '€€€' }, content: 'x' }),
      )
      expect(await outputOf(sandbox, 'cd in && find . -type f')).toBe(`./${name}`)
    })

    it('keeps a partially written file private', async () => {
      const { sandbox } = await shared()
      let more: (() => void) | undefined
      const tar = tarOf({ name: 'secret', content: 'x'.repeat(5_000), mode: 0o644 })
      const stream = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (more === undefined) {
              controller.enqueue(tar.subarray(0, 3_000))
              more = () => undefined
              return
            }
            await new Promise<void>((resolve) => {
              more = resolve
            })
            controller.enqueue(tar.subarray(3_000))
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
      const uploading = sandbox.files.upload('here', stream)
      expect(await outputOf(sandbox, 'sleep 0.1; find . -mindepth 1')).toBe('')
      more?.()
      await uploading
      expect(await outputOf(sandbox, 'stat -c "%a %s" here/secret')).toBe('644 5000')
    })

    it('hydrate expanded 204 KB of gzip to 200 MiB in spite of the limits', async () => {
      const under = await newSandbox(make, { limits: { archives: { expandedBytes: 1_000_000 } } })
      const bomb = gzipSync(tarOf({ name: 'zeros', content: new Uint8Array(20_000_000) }))
      await changesNothing(under, 'a bomb', async () => {
        const tooLarge = { code: 'archive_too_large' }
        await expect(under.sandbox.hydrate(bomb)).rejects.toMatchObject(tooLarge)
        await expect(under.sandbox.files.extract('bomb.tgz', bomb)).rejects.toMatchObject(tooLarge)
      })
    })
  })
}
