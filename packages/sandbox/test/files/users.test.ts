import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileIdentity, may } from '@vitrine/archives'
import { describe, expect, it } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'
import { isRoot } from './fixtures/mounted.ts'

const denied = { code: 'file_denied' }

describe('the rights of a user', () => {
  const who: FileIdentity = { name: 'x', uid: 10, gids: [20, 21], all: false, owns: true }
  const of = (uid: number, gid: number, mode: number) => ({ uid, gid, mode }) as Parameters<typeof may>[0]

  it.each([
    [10, 20, 0o077, [false, false, false]],
    [10, 99, 0o700, [true, true, true]],
    [99, 20, 0o707, [false, false, false]],
    [99, 21, 0o050, [true, false, true]],
    [99, 99, 0o774, [true, false, false]],
    [99, 99, 0o002, [false, true, false]],
  ])('the first matching class of owner, group and others decides: %i:%i %o', (uid, gid, mode, expected) => {
    const rights = (['read', 'write', 'search'] as const).map((right) => may(of(uid, gid, mode), right, who))
    expect(rights).toEqual(expected)
    expect(may(of(uid, gid, 0), 'write', { ...who, all: true })).toBe(true)
  })
})

describe.skipIf(!isRoot)('a user of the host, without isolation', () => {
  it('a user owns the files it creates and has no more than its permissions', async () => {
    const sandbox = await openSandbox({ isolation: 'none' })
    const { files, root } = sandbox
    const user = 'daemon'
    chmodSync(root, 0o755)
    await expect(files.write('x', 'x', { user })).rejects.toMatchObject(denied)
    chmodSync(root, 0o777)
    await files.write('made/by/it', 'x', { user, parents: true })
    await files.mkdir('m/n/o', { user, parents: true })
    for (const path of ['made', 'made/by', 'made/by/it', 'm', 'm/n/o'])
      expect(statSync(join(root, path)).uid, path).toBe(1)
    mkdirSync(join(root, 'shut/in'), { recursive: true })
    chmodSync(join(root, 'shut'), 0o700)
    writeFileSync(join(root, 'secret'), 'x', { mode: 0o600 })
    writeFileSync(join(root, 'shared'), 'x')
    chmodSync(join(root, 'shared'), 0o666)
    for (const call of [
      () => files.read('secret', { user }),
      () => files.write('secret', 'x', { user }),
      () => files.list('shut', { user }),
      () => files.stat('shut/in', { user }),
      () => files.exists('shut/in', { user }),
      () => files.chmod('shared', 0o600, { user }),
      () => files.remove('shut', { user, recursive: true }),
      () => files.search('shut', { user, name: '*' }),
    ])
      await expect(call()).rejects.toMatchObject(denied)
    expect(await files.write('shared', 'y', { user, append: true })).toMatchObject({ size: 2 })
    expect((await files.search('.', { user, content: 'x' })).hits.map(({ path }) => path)).toEqual([
      'made/by/it',
      'shared',
    ])
    chmodSync(root, 0o1777)
    await expect(files.remove('secret', { user })).rejects.toMatchObject(denied)
    await expect(files.move('secret', 'mine', { user })).rejects.toMatchObject(denied)
    await files.remove('made', { user, recursive: true })
  })

  it('a write keeps the owner of an existing file', async () => {
    const sandbox = await openSandbox({ isolation: 'none' })
    const path = join(sandbox.root, 'file')
    writeFileSync(path, 'x')
    chownSync(path, 1, 1)
    chmodSync(path, 0o666)
    await sandbox.files.write('file', 'y')
    await sandbox.files.write('file', 'z', { user: 'nobody' })
    expect([statSync(path).uid, statSync(path).gid, statSync(path).mode & 0o7777]).toEqual([1, 1, 0o666])
  })

  it('writing and appending clear setuid and setgid', async () => {
    const sandbox = await openSandbox({ isolation: 'none' })
    for (const append of [false, true]) {
      const path = join(sandbox.root, `program-${append}`)
      writeFileSync(path, 'x')
      chmodSync(path, 0o6755)
      expect(await sandbox.files.write(`program-${append}`, 'y', { append })).toMatchObject({ mode: 0o755 })
    }
  })
})

describe.skipIf(!isRoot)('users of a writable system', () => {
  it('root and the user of a writable system see the same owners', async () => {
    const sandbox = await openSandbox({ isolation: 'bubblewrap', rootfs: 'writable' })
    const { files } = sandbox
    await files.write('by-root/file', 'x', { user: 'root', parents: true, mode: 0o600 })
    await files.write('by-user/file', 'x', { user: 'sandbox', parents: true })
    await files.write('by-default/file', 'x', { parents: true })
    const { stdout } = await sandbox.exec('stat -c "%u %n" by-*/file; cat by-root/file 2>&1; id -u')
    expect(stdout).toBe(
      '1000 by-default/file\n0 by-root/file\n1000 by-user/file\ncat: by-root/file: Permission denied\n1000\n',
    )
    expect((await sandbox.exec('cat by-root/file', { user: 'root' })).stdout).toBe('x')
    await expect(files.read('by-root/file', { user: 'sandbox' })).rejects.toMatchObject(denied)
    expect(await new Response(await files.read('by-root/file', { user: 'root' })).text()).toBe('x')
    await expect(files.write('x', 'x', { user: 'daemon' })).rejects.toMatchObject({
      code: expect.stringMatching(/^(file_denied|unsupported)$/),
    })
  })

  it('a sandbox without a writable system has only one user', async () => {
    const sandbox = await openSandbox({ isolation: 'bubblewrap' })
    await expect(sandbox.files.write('x', 'x', { user: 'root' })).rejects.toMatchObject({
      code: 'user_unknown',
    })
    await sandbox.files.write('x', 'x', { user: 'sandbox' })
    expect((await sandbox.exec('stat -c %u x')).stdout).toBe('1000\n')
  })
})
