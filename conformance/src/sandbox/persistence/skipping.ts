import { describe, expect, it } from 'vitest'
import { allEvents, operationsOf } from '../events.ts'
import { outputOf } from '../files/content.ts'
import { type MakeSandbox, newSandbox } from '../kit.ts'
import { transfer } from './transfer.ts'

const wrong = [
  '.',
  './',
  'a/..',
  '..',
  '../x',
  'a/../..',
  '/',
  '//',
  '/etc',
  '*',
  'a/*.log',
  'a?',
  '**',
  '',
  'a\0b',
]

export function skippingCases(make: MakeSandbox): void {
  describe('skipped paths', () => {
    it('skipOnPersist normalizes a path and leaves it out of the archive', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      const { lifecycle } = sandbox
      expect(await lifecycle.skipOnPersist('cache')).toBe('cache')
      expect(await lifecycle.skipOnPersist('./a//b/')).toBe('a/b')
      expect(await lifecycle.skipOnPersist('a/../single')).toBe('single')
      expect(await lifecycle.skipOnPersist('not/there/yet')).toBe('not/there/yet')
      expect(await lifecycle.skipOnPersist('cache')).toBe('cache')
      await sandbox.exec(
        'mkdir -p cache/deep a/b a/bc x/cache caches && touch cache/deep/f a/b/f a/bc/f x/cache/f caches/f single singles',
      )
      await transfer(sandbox, to)
      expect(await outputOf(to, 'find . -type f | sort | tr "\\n" " "')).toBe(
        './a/bc/f ./caches/f ./singles ./x/cache/f',
      )
      expect(await outputOf(to, 'test -e cache || test -e a/b || echo gone')).toBe('gone')
      const [operation] = operationsOf(await allEvents(journal), 'persist_workspace')
      expect(operation?.[0]?.data.skip).toEqual(['cache', 'a/b', 'single', 'not/there/yet'])
    })

    it('skipOnPersist refuses the root, outside paths, patterns and empty paths', async () => {
      const { sandbox } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      for (const path of wrong)
        await expect(sandbox.lifecycle.skipOnPersist(path), JSON.stringify(path)).rejects.toThrow(
          expect.objectContaining({ code: 'argument_invalid' }),
        )
      await sandbox.exec('mkdir a; echo x > a/b; echo x > c')
      expect(await transfer(sandbox, to)).toMatchObject({ files: 2 })
    })

    it('skipOnPersist refuses values that are not strings', async () => {
      const { sandbox } = await newSandbox(make)
      for (const path of [undefined, null, 1, {}])
        await expect(sandbox.lifecycle.skipOnPersist(path as never)).rejects.toThrow(
          expect.objectContaining({ code: 'argument_invalid' }),
        )
    })

    it('a download contains skipped paths, and links to them are persisted', async () => {
      const { sandbox } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      await sandbox.lifecycle.skipOnPersist('cache')
      await sandbox.exec('mkdir cache && echo x > cache/f && ln -s cache link && ln cache/f hard')
      await to.files.upload('.', await sandbox.files.download('.'))
      expect(await outputOf(to, 'cat cache/f')).toBe('x')
      await transfer(sandbox, to)
      expect(await outputOf(to, 'ls; readlink link; cat hard')).toBe('hard\nlink\ncache\nx')
    })

    it('a skipped path stays skipped after a restart, and for other handles', async () => {
      const { sandbox } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      await sandbox.as({ run: 'run_skip' }).lifecycle.skipOnPersist('cache')
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      await sandbox.exec('echo x > cache; echo x > kept')
      await transfer(sandbox, to)
      expect(await outputOf(to, 'ls')).toBe('kept')
    })
  })
}
