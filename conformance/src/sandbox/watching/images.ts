import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { MakeSandbox, SandboxUnderTest } from '../kit.ts'
import { changesOf, watchedSandbox } from './changes.ts'

const hashOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

export function imageCases(make: MakeSandbox): void {
  describe('images of files', () => {
    it('each change has the hashes of the content before and after it', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.files.write('f', 'one')
      expect(await lastOf(under)).toMatchObject({ after: hashOf('one'), size: 3 })
      // `1<>` writes in one step; `>` would truncate the file first, which may be recorded as a separate change.
      await under.sandbox.exec('printf second 1<> f')
      expect(await lastOf(under)).toMatchObject({ before: hashOf('one'), after: hashOf('second'), size: 6 })
      await under.sandbox.exec('mv f g')
      expect(await lastOf(under)).toMatchObject({ before: hashOf('second'), after: hashOf('second') })
      await under.sandbox.files.remove('g')
      expect(await lastOf(under)).toMatchObject({ path: 'g', before: hashOf('second') })
    })

    it('the content before the start is recorded as unknown', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('printf old > f')
      await under.sandbox.lifecycle.shutdown()
      await under.sandbox.lifecycle.start()
      await under.sandbox.exec('printf newer 1<> f')
      const last = await lastOf(under)
      expect(last).toMatchObject({ beforeUnknown: true, after: hashOf('newer') })
      expect(last).not.toHaveProperty('before')
    })

    it('the content of .env files is never recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      for (const command of [
        'printf A=1 > .env',
        'printf A=2 > .env',
        'chmod 600 .env',
        'printf B > .env.local',
      ]) {
        await under.sandbox.exec(command)
        const last = await lastOf(under)
        expect({ command, ...last }).toMatchObject({ afterOmitted: expect.any(String) })
        expect(last).not.toHaveProperty('after')
        expect(last).not.toHaveProperty('before')
      }
    })

    it('content is stored up to a size per file, and up to a total with one limit event', async ({
      skip,
    }) => {
      const under = await watchedSandbox(make, skip, { watch: { imageBytes: 100, imagesTotalBytes: 250 } })
      await under.sandbox.files.write('large', 'x'.repeat(101))
      expect(await lastOf(under)).toMatchObject({ size: 101, afterOmitted: expect.any(String) })
      for (const [name, isStored] of [
        ['a', true],
        ['b', true],
        ['c', false],
        ['d', false],
      ] as const) {
        await under.sandbox.files.write(name, name.repeat(100))
        const last = await lastOf(under)
        expect({ name, isStored: 'after' in last, omitted: 'afterOmitted' in last }).toEqual({
          name,
          isStored,
          omitted: !isStored,
        })
      }
      const { events } = await under.journal.read({ types: ['limit.reached'] })
      expect(events).toHaveLength(1)
    })
  })
}

async function lastOf(under: SandboxUnderTest): Promise<Readonly<Record<string, unknown>>> {
  return (await changesOf(under)).at(-1)?.data ?? {}
}
