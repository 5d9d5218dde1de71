import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasBubblewrap, isRoot, openScene, say } from './prepared.ts'

const skipped = !isRoot || !hasBubblewrap
if (skipped) console.warn('SKIPPED: no users are made: it takes root and bwrap.')
const writable = { isolation: 'bubblewrap', rootfs: 'writable' } as const

describe.skipIf(skipped)('users and groups', () => {
  it('creates accounts before all other steps, and again after each start', async () => {
    const scene = await openScene()
    const workspace = {
      users: ['ann', { name: 'bob', groups: ['crew', 'ann'] }, { name: 'crew', groups: [] }],
      groups: ['ops'],
      setup: [{ run: 'id -un > "$HOME/me"; cat "$HOME/me"', user: 'ann', cwd: '/tmp' }],
    }
    const sandbox = await scene.prepare(workspace, writable)
    expect(
      (await scene.progress()).filter(({ state }) => state === 'started').map(({ name }) => name),
    ).toEqual([
      ...['group ops', 'group crew', 'group ann', 'user ann', 'user bob', 'user crew'],
      'id -un > "$HOME/me"; cat "$HOME/me"',
    ])
    expect(await say(sandbox, 'id -un; echo $HOME; cat ~/me', 'ann')).toBe('ann\n/home/ann\nann')
    expect(await say(sandbox, 'getent group crew ops | cut -d: -f1,4; id -Gn bob')).toBe(
      'crew:bob\nops:\nbob crew ann',
    )
    expect(await say(sandbox, 'id -Gn', 'bob')).toBe('bob crew ann')
    expect(await say(sandbox, 'id -Gn', 'ann')).toBe('ann')
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect(await say(sandbox, 'id -un; ls ~', 'ann')).toBe('ann')
    expect(await say(sandbox, 'id -Gn bob')).toBe('bob crew ann')
    await sandbox.close()
    const again = await scene.prepare(workspace, writable)
    expect(await say(again, 'id -un', 'bob')).toBe('bob')
    expect(spawnSync('id', ['ann']).status).not.toBe(0)
  })

  it('accepts accounts that already exist', async () => {
    const scene = await openScene()
    const sandbox = await scene.prepare(
      { users: ['daemon', { name: 'nobody', groups: ['crew'] }, 'root', 'sandbox'], groups: ['daemon'] },
      writable,
    )
    expect(await say(sandbox, 'id -Gn nobody; id -u sandbox')).toBe('nogroup crew\n1000')
  })

  it('finds accounts that root of the sandbox creates later, and no ambiguous ones', async () => {
    const scene = await openScene()
    const sandbox = await scene.prepare({ groups: ['crew'] }, writable)
    const root = { user: 'root' }
    await sandbox.exec('useradd -m late', root)
    expect(await say(sandbox, 'id -un', 'late')).toBe('late')
    await sandbox.exec(
      'echo "far:x:70000:70000::/:/bin/sh" >> /etc/passwd; sed -i "s/^sandbox:x:1000/sandbox:x:0/" /etc/passwd',
      root,
    )
    await expect(sandbox.exec('id', { user: 'far' })).rejects.toMatchObject({ code: 'user_unknown' })
    expect(await say(sandbox, 'id -u')).toBe('1000')
    await sandbox.exec('rm /etc/passwd; ln -s /proc/1/root/etc/shadow /etc/passwd', root)
    await expect(sandbox.exec('id', { user: 'late' })).rejects.toMatchObject({ code: 'user_unknown' })
    await sandbox.exec('rm /etc/passwd; mkfifo /etc/passwd', root)
    await expect(sandbox.exec('id', { user: 'late' })).rejects.toMatchObject({ code: 'user_unknown' })
    expect(await say(sandbox, 'id -u', 'root')).toBe('0')
  })

  it('fails a later start if accounts cannot be created, and keeps the workspace', async () => {
    const scene = await openScene()
    const sandbox = await scene.prepare({ users: ['ann'], files: { kept: 'x' } }, writable)
    await sandbox.close()
    await expect(
      scene.prepare({ users: [{ name: 'ann' }], env: { PATH: '/nowhere' } }, writable),
    ).rejects.toMatchObject({ code: 'sandbox_start_failed', message: expect.stringContaining('user ann') })
    const again = await scene.prepare({ users: ['ann'] }, writable)
    expect(await say(again, 'cat kept')).toBe('x')
  })

  it('requires a root file system of its own for accounts', async () => {
    const scene = await openScene()
    await expect(scene.prepare({ users: ['ann'] }, { isolation: 'bubblewrap' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining("rootfs: 'writable'"),
    })
    expect(await scene.events()).toEqual([])
  })
})

it('never creates accounts on the host', async () => {
  const scene = await openScene()
  const before = readFileSync('/etc/passwd', 'utf8')
  const failing = scene.prepare(
    { users: ['ann'], groups: ['crew'] },
    { isolation: 'none', rootfs: 'writable' },
  )
  await expect(failing).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('of the host'),
  })
  expect(await scene.events()).toEqual([])
  expect(readFileSync('/etc/passwd', 'utf8')).toBe(before)
})

it('creates no accounts if isolation is requested but unavailable', async () => {
  const scene = await openScene()
  const path = process.env.PATH
  process.env.PATH = '/nowhere'
  try {
    const failing = scene.prepare(
      { users: ['ann'], files: { a: 'x' } },
      { isolation: 'auto', rootfs: 'writable' },
    )
    await expect(failing).rejects.toMatchObject({ code: 'unsupported' })
  } finally {
    process.env.PATH = path
  }
  expect((await scene.events()).some(({ data }) => data.op === 'apply_manifest')).toBe(false)
  expect(scene.left()).toEqual([])
})
