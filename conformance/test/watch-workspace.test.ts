import { isVitrineError } from '@vitrine/protocol'
import { type SandboxFileEvent, watchWorkspace } from '@vitrine/runtime'
import { expect, it, vi } from 'vitest'
import { describeRuns } from './sandbox-run-setting.ts'

const line = ({ type, previousPath, path }: SandboxFileEvent) =>
  [type, previousPath, path].filter((part) => part !== undefined).join(' ')

const codeOf = (error: unknown) => (isVitrineError(error) ? error.code : String(error))

describeRuns(
  (setting) => {
    it('sees every change in order, with contents and diffs, up to those made just before it stops', async (context) => {
      setting.needs(context, 'files')
      const sandbox = await setting.client.create({ workspace: { files: { 'old.txt': 'one\n' } } })
      const events: SandboxFileEvent[] = []
      const watch = await watchWorkspace(sandbox, { onEvent: (event) => events.push(event) })
      await sandbox.files.write('old.txt', 'one\ntwo\n')
      await sandbox.files.flush()
      await sandbox.files.move('old.txt', 'new.txt')
      await sandbox.files.flush()
      await sandbox.files.remove('new.txt')
      await sandbox.files.flush()
      const late = Array.from({ length: 10 }, (_, index) => `late-${index}.txt`)
      await Promise.all(late.map((path) => sandbox.files.write(path, path)))
      await watch.stop()
      const lines = events.map(line)
      expect(lines.slice(0, 3)).toEqual(['change old.txt', 'move old.txt new.txt', 'delete new.txt'])
      expect(lines.slice(3).sort()).toEqual(late.map((path) => `create ${path}`))
      expect(await Promise.all([events[0]?.before(), events[0]?.after()])).toEqual(['one\n', 'one\ntwo\n'])
      expect(await events[0]?.diff()).toContain('+two')
      expect(await events[2]?.diff()).toContain('-two')
      expect(await events[3]?.before()).toBeUndefined()
      const { timestamp = 0, seq = 0 } = events[3] ?? {}
      expect([Number.isInteger(timestamp), seq > (events[2]?.seq ?? 0)]).toEqual([true, true])
      await sandbox.files.write('after.txt', 'not seen')
      await watch.stop()
      expect(events).toHaveLength(13)
      await setting.client.destroy(sandbox.id)
    })

    it('leaves out the given patterns, and changes below them', async (context) => {
      setting.needs(context, 'files')
      const sandbox = await setting.client.create()
      const seen: string[] = []
      await using watch = await watchWorkspace(sandbox, {
        onEvent: (event) => seen.push(line(event)),
        ignore: ['*.log', 'out/deep'],
      })
      for (const path of ['a.log', 'out/deep/b.txt', 'out/c.txt']) await sandbox.files.write(path, 'text')
      await watch.stop()
      expect(seen.sort()).toEqual(['create out', 'create out/c.txt'])
      await setting.client.destroy(sandbox.id)
    })

    it('is not changed by a function that throws, rejects or never settles, and reports its errors', async (context) => {
      setting.needs(context, 'files')
      const sandbox = await setting.client.create()
      const seen: string[] = []
      const errors: unknown[] = []
      const watch = await watchWorkspace(sandbox, {
        onEvent(event) {
          seen.push(line(event))
          if (seen.length === 1) throw new Error('thrown')
          if (seen.length === 2) return Promise.reject(new Error('rejected'))
          return new Promise(() => undefined)
        },
        onError: (error) => errors.push(codeOf(error)),
      })
      for (const path of ['one', 'two', 'three', 'four']) {
        await sandbox.files.write(path, path)
        await sandbox.files.flush()
      }
      await watch.stop()
      expect(seen).toEqual(['create one', 'create two', 'create three', 'create four'])
      await vi.waitFor(() => expect(errors).toEqual(['Error: thrown', 'Error: rejected']))
      await setting.client.destroy(sandbox.id)
    })

    it('stops in a sandbox that was destroyed meanwhile, with what was on record', async (context) => {
      setting.needs(context, 'files')
      const sandbox = await setting.client.create()
      const seen: string[] = []
      const errors: unknown[] = []
      const watch = await watchWorkspace(sandbox, {
        onEvent: (event) => seen.push(line(event)),
        onError: (error) => errors.push(codeOf(error)),
      })
      await sandbox.files.write('kept', 'text')
      await sandbox.files.flush()
      await setting.client.destroy(sandbox.id)
      await watch.stop()
      expect(seen).toEqual(['create kept'])
      expect(new Set(errors)).toEqual(new Set(['sandbox_destroyed']))
    })

    it('refuses a sandbox whose files are not watched, and patterns that are none', async () => {
      const sandbox = await setting.client.create()
      const bad = watchWorkspace(sandbox, { onEvent: () => undefined, ignore: [''] })
      await expect(bad).rejects.toMatchObject({ code: 'argument_invalid' })
      if (sandbox.capabilities.watching === 'none')
        await expect(watchWorkspace(sandbox, { onEvent: () => undefined })).rejects.toMatchObject({
          code: 'unsupported',
        })
      await setting.client.destroy(sandbox.id)
    })
  },
  { subject: 'watchWorkspace of a sandbox' },
)
