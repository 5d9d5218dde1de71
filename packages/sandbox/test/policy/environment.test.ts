import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandPolicy } from '@vitrine/command-policy'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'

const policy = commandPolicy({ allow: ['git *', 'true', 'ls *'], otherwise: 'allow', deny: ['touch *'] })
const refused = { code: 'gate_refused' }

/** A sandbox whose workspace has its own `git`, which leaves a file. */
async function sandboxWithOwnGit(options: { readonly env?: Readonly<Record<string, string>> } = {}) {
  const sandbox = await openSandbox({ isolation: 'none', ...options }, { policy })
  const folder = join(sandbox.root, 'bin')
  const ran = join(sandbox.root, 'ran')
  mkdirSync(folder)
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho >'${ran}'\n`)
  writeFileSync(join(sandbox.root, 'env.sh'), `echo >'${ran}'\n`)
  chmodSync(join(folder, 'git'), 0o755)
  return { sandbox, folder, hasRun: () => existsSync(ran), script: join(sandbox.root, 'env.sh') }
}

describe('the variables of a call are judged like assignments before the command', () => {
  it('refuses a PATH to a program of the workspace, of exec, spawn and a terminal', async () => {
    const { sandbox, folder, hasRun } = await sandboxWithOwnGit()
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    await expect(sandbox.exec('git status', { env })).rejects.toMatchObject(refused)
    await expect(sandbox.exec(['git', 'status'], { env })).rejects.toMatchObject(refused)
    await expect(sandbox.spawn('git status', { env })).rejects.toMatchObject(refused)
    const tty = { cols: 80, rows: 24 }
    await expect(sandbox.spawn('git status', { env, tty })).rejects.toMatchObject(refused)
    expect(hasRun()).toBe(false)
  })

  it('refuses a PATH in the environment of the sandbox', async () => {
    const { sandbox, hasRun } = await sandboxWithOwnGit({ env: { PATH: 'bin:/usr/bin:/bin' } })
    await expect(sandbox.exec('git status')).rejects.toMatchObject(refused)
    expect(hasRun()).toBe(false)
  })

  it('refuses a program of the workspace in the PATH of the host, if the system has one of that name', async () => {
    const { sandbox, folder, hasRun } = await sandboxWithOwnGit()
    const path = process.env.PATH
    process.env.PATH = `${folder}:/usr/bin:/bin`
    onTestFinished(() => {
      process.env.PATH = path
    })
    const inherits = await openSandbox({ isolation: 'none', root: sandbox.root }, { policy })
    await expect(inherits.exec('git status')).rejects.toThrow('where commands can write')
    expect((await inherits.exec('true')).outcome).toBe('ok')
    expect(hasRun()).toBe(false)
  })

  it('refuses a program that only a folder of the host has in which commands can write, unless a rule names it', async () => {
    const { sandbox, folder, hasRun } = await sandboxWithOwnGit()
    // Outside of the workspace, HOME and /tmp.
    const elsewhere = mkdtempSync('/var/tmp/vitrine-path-')
    const path = process.env.PATH
    process.env.PATH = `/usr/bin:/bin:${elsewhere}`
    onTestFinished(() => {
      process.env.PATH = path
      rmSync(elsewhere, { recursive: true, force: true })
    })
    cpSync(join(folder, 'git'), join(elsewhere, 'planted'))
    const inherits = await openSandbox({ isolation: 'none', root: sandbox.root }, { policy })
    await expect(inherits.exec('planted')).rejects.toThrow('where commands can write')
    const everything = commandPolicy({ allow: ['*'], deny: ['touch *'] })
    const allowing = await openSandbox({ isolation: 'none', root: sandbox.root }, { policy: everything })
    await expect(allowing.exec('planted')).rejects.toThrow('where commands can write')
    expect(hasRun()).toBe(false)
    const named = commandPolicy({ allow: ['planted'], otherwise: 'deny' })
    const naming = await openSandbox({ isolation: 'none', root: sandbox.root }, { policy: named })
    expect((await naming.exec('planted')).outcome).toBe('ok')
    // The program of the system is found first.
    cpSync(join(folder, 'git'), join(elsewhere, 'ls'))
    expect((await inherits.exec('ls')).outcome).toBe('ok')
  })

  it('refuses BASH_ENV and an exported function', async () => {
    const { sandbox, script, hasRun } = await sandboxWithOwnGit()
    const shell = 'bash'
    await expect(sandbox.exec('true', { shell, env: { BASH_ENV: script } })).rejects.toMatchObject(refused)
    const env = { 'BASH_FUNC_git%%': '() { touch x; }' }
    await expect(sandbox.exec('git status', { shell, env })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('touch *'),
    })
    expect(hasRun()).toBe(false)
  })

  it('names the variable in the reason', async () => {
    const { sandbox } = await sandboxWithOwnGit()
    await expect(sandbox.exec('ls', { env: { LD_PRELOAD: './x.so' } })).rejects.toThrow(
      'LD_PRELOAD makes programs load other code',
    )
  })

  it('runs a command with a PATH of the system and with ordinary variables', async () => {
    const { sandbox } = await sandboxWithOwnGit()
    for (const env of [
      { PATH: '/usr/local/bin:/usr/bin:/bin' },
      { CI: '1', PAGER: 'cat', GIT_PAGER: 'cat', NO_COLOR: '1', NODE_ENV: 'test', GIT_AUTHOR_NAME: 'A' },
    ])
      expect((await sandbox.exec('ls', { env })).outcome).toBe('ok')
  })
})
