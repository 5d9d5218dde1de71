import { expect } from 'vitest'
import { bytesOf } from '../sandbox/archives/unpack-calls.ts'
import { allEvents } from '../sandbox/events.ts'
import { outputOf, readText } from '../sandbox/files/content.ts'
import { followingCalls } from '../sandbox/files/links.ts'
import { attempt } from '../waiting/attempt.ts'
import { plantCanary, type RacedCall, race } from './canary.ts'
import type { Attack } from './kit.ts'

const racedCalls = 40

/** The aim: to read or write outside the workspace through the file API. */
export const fileAttacks: readonly Attack[] = [
  {
    promise: 'no file call follows a link out of the workspace, whether its target exists or not',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec(
        `mkdir in; ln -s ${canary.path} abs; ln -s ${canary.path}/f file; ln -s ${canary.relative} up; ln -s ${canary.path}/new dangling; ln -s abs twice; ln -s /proc/self/root proc; ln -s /proc/self/cwd/../ cwd`,
      )
      const paths = [
        'abs',
        'file',
        'up',
        'dangling',
        'twice',
        'abs/f',
        'up/sub',
        'abs/new',
        'proc/etc',
        'cwd',
      ]
      for (const [name, go] of followingCalls)
        for (const path of paths)
          await expect(
            attempt(() => go(sandbox.files, path)),
            `${name} of ${path}`,
          ).rejects.toMatchObject({
            code: 'path_outside',
          })
      await canary.expectUnchanged()
    },
  },
  {
    promise: 'no spelling of a path leads out of the workspace',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      const paths = [
        canary.path,
        canary.relative,
        `${sandbox.root}/${canary.relative}`,
        `./${canary.relative}`,
        `/${canary.path}`,
        `/proc/self/root${canary.path}`,
        `/proc/1/root${canary.path}`,
        '/dev/fd',
      ]
      for (const [name, go] of followingCalls)
        for (const path of paths)
          await expect(
            attempt(() => go(sandbox.files, path)),
            `${name} of ${path}`,
          ).rejects.toMatchObject({
            code: 'path_outside',
          })
      const folded = ['a\0b', `\0${canary.path}/f`, `%2e%2e/${canary.relative}`, `..%2f${canary.relative}`]
      for (const path of folded)
        await expect(
          attempt(() => sandbox.files.read(path)),
          JSON.stringify(path),
        ).rejects.toThrow()
      await canary.expectUnchanged()
    },
  },
  {
    promise: 'a link that is swapped in during a call does not redirect it',
    async run(target) {
      const { sandbox } = await target.sandbox({ watch: false })
      const canary = await plantCanary(sandbox)
      await sandbox.exec('mkdir -p d/sub && echo inside > d/f && echo inside > d/sub/f')
      const calls: readonly RacedCall[] = [
        () => readText(sandbox, 'd/f'),
        () => readText(sandbox, 'd/sub/f'),
        (round) => sandbox.files.write(`d/${round}`, 'escaped'),
        () => sandbox.files.write('d/f', 'inside\n', { append: true }),
        () => sandbox.files.chmod('d/f', 0o600),
        (round) => sandbox.files.mkdir(`d/folder-${round}`),
        () => sandbox.files.list('d'),
      ]
      await race(sandbox, { folder: 'd', canary, calls, each: racedCalls })
    },
  },
  {
    promise: 'removing and moving a link leave its target as it is',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec(
        `mkdir tree; ln -s ${canary.path} tree/l; ln -s ${canary.path} l; ln -s ${canary.path}/f m`,
      )
      await sandbox.files.remove('tree', { recursive: true })
      await sandbox.files.move('l', 'moved')
      await sandbox.files.remove('moved', { recursive: true })
      await sandbox.files.remove('m')
      await expect(attempt(() => sandbox.files.move(`${canary.path}/f`, 'stolen'))).rejects.toMatchObject({
        code: 'path_outside',
      })
      await expect(attempt(() => sandbox.files.remove(`${canary.path}/f`))).rejects.toMatchObject({
        code: 'path_outside',
      })
      await canary.expectUnchanged()
    },
  },
  {
    promise: 'what leaves the workspace does not contain the target of a link',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec(`echo mine > mine; ln -s ${canary.path} l; ln -s ${canary.path}/f f`)
      for (const archive of [await sandbox.persist(), await sandbox.files.download('.')])
        expect((await bytesOf(archive)).includes(canary.content)).toBe(false)
      for (const path of ['l', 'f', 'l/f']) {
        const downloaded = await attempt(() => sandbox.files.download(path)).then(bytesOf, () => undefined)
        expect(downloaded?.includes(canary.content) ?? false, path).toBe(false)
      }
      const { hits } = await sandbox.files.search('.', { content: 'canary-' })
      expect(hits).toEqual([])
    },
  },
  {
    promise: 'the watcher does not follow a link out of the workspace',
    needs: ['watching'],
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec(`ln -s ${canary.path} l; echo mine > mine`)
      await sandbox.files.flush()
      await sandbox.exec(`echo more >> ${canary.path}/f; echo more >> mine`)
      await sandbox.files.flush()
      const events = await allEvents(journal, { types: ['file.*'] })
      expect(events.length).toBeGreaterThan(0)
      expect(JSON.stringify(events)).not.toContain('l/f')
    },
  },
  {
    promise:
      'a HOME or a workspace that a command replaced with a link does not lead elsewhere after a restart',
    needs: ['isolation'],
    async run(target) {
      const { sandbox } = await target.sandbox()
      const { root } = sandbox
      await sandbox.exec(
        `echo own > ~/own; cd /; for d in ~ ${root}; do mv $d $d.old; rmdir $d; ln -s /etc $d; ln -sfn /etc $d; done; ln -s /etc ~/etc`,
      )
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      expect(await outputOf(sandbox, `cat ~/own; test -L ~ || test -L ${root} || echo no link`)).toBe(
        'own\nno link',
      )
      const { entries } = await sandbox.files.list('.')
      expect(entries.map(({ path }) => path)).not.toContain('passwd')
    },
  },
]
