import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../archives/test/fixtures/folder.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

describe('a read-only part of the workspace', () => {
  it.each(['none', 'bubblewrap'] as const)(
    'no operation can change a read-only grant inside the workspace: %s',
    async (isolation) => {
      const root = join(folder(), 'root')
      mkdirSync(join(root, 'a/é/open'), { recursive: true })
      writeFileSync(join(root, 'a/é/kept'), 'kept')
      const sandbox = await openSandbox({
        root,
        isolation,
        grants: [{ path: join(root, 'a/é') }, { path: join(root, 'a/é/open'), writable: true }],
      })
      const { files } = sandbox
      await sandbox.exec('ln -s a/é link; ln -s a/é/kept file; mkdir mine; ln -s ../a/é/../é mine/way')
      const inside = [
        'a/é',
        join(root, 'a/é'),
        'link',
        'a/../a/é',
        'mine/way',
        'a/\udcc3\udca9',
        'a/é/open/..',
      ]
      for (const at of inside) {
        for (const call of [
          () => files.write(`${at}/kept`, 'no'),
          () => files.write(`${at}/kept`, 'no', { append: true }),
          () => files.write(`${at}/new`, 'no'),
          () => files.write(`${at}/x/y`, 'no', { parents: true }),
          () => files.mkdir(`${at}/new`),
          () => files.chmod(`${at}/kept`, 0o777),
          () => files.chmod(at, 0o777),
          () => files.remove(`${at}/kept`),
          () => files.move(`${at}/kept`, 'mine/kept'),
          () => files.move('mine', `${at}/mine`),
        ])
          await expect(call(), at).rejects.toMatchObject({ code: 'file_read_only' })
        await files.write(`${at}/open/x`, 'yes')
      }
      await expect(files.write('file', 'no')).rejects.toMatchObject({ code: 'file_read_only' })
      for (const path of ['a', 'a/é'])
        for (const call of [
          () => files.remove(path, { recursive: true }),
          () => files.move(path, 'elsewhere'),
        ])
          await expect(call(), path).rejects.toMatchObject({ code: 'file_read_only' })
      expect(readFileSync(join(root, 'a/é/kept'), 'utf8')).toBe('kept')
      expect((await files.search('.', { content: 'kept' })).hits).toMatchObject([{ path: 'a/é/kept' }])
    },
  )
})
