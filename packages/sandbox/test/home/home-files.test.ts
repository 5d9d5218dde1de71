import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLocalSandbox, type LocalSandbox, local } from '../../src/index.ts'

const path = '.config/login.json'
const login = '{"token":"placed-for-an-agent"}'

function dataFolder(): string {
  const data = mkdtempSync('/var/tmp/vitrine-home-')
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}

async function start(
  data: string,
  options: { isolation?: 'none' | 'bubblewrap'; home?: string; id?: string } = {},
): Promise<LocalSandbox> {
  const { id = 'sbx_home', isolation = 'none', home } = options
  const sandbox = await createLocalSandbox({
    id,
    provider: local({ data, isolation, watch: false, ...(home !== undefined && { home }) }),
  })
  onTestFinished(() => sandbox.close())
  return sandbox
}

const inHome = async (sandbox: LocalSandbox, command: string) =>
  (await sandbox.exec(`cd "$HOME" && ${command}`)).stdout
const recordOf = (data: string, id = 'sbx_home') => join(data, 'sandboxes', id, 'state', 'home-files.json')
const homeOf = (data: string) => join(data, 'sandboxes', 'sbx_home', 'home')

it.each(['none', 'bubblewrap'] as const)(
  'writes files into HOME that only their owner can read, with isolation %s',
  async (isolation) => {
    const sandbox = await start(dataFolder(), { isolation })
    const show = () => inHome(sandbox, `stat -c %a ${path} && cat ${path}; ls -A .config`)
    // An existing link is replaced, not followed, and comes back.
    await sandbox.exec(`mkdir -p "$HOME/.config" && ln -s "$PWD/caught" "$HOME/${path}"`)
    const takeFirst = await sandbox.putInHome({ [path]: 'first' })
    expect(await show()).toBe('600\nfirstlogin.json\n')
    expect((await sandbox.exec('ls')).stdout).toBe('')
    const takeSecond = await sandbox.putInHome({ [path]: 'second' })
    await takeFirst()
    expect(await show()).toBe('600\nsecondlogin.json\n')
    await takeSecond()
    expect(await inHome(sandbox, `readlink ${path}; ls -A .config`)).toBe(
      `${sandbox.root}/caught\nlogin.json\n`,
    )
    expect((await sandbox.exec('ls')).stdout).toBe('')
  },
)

describe.each(['none', 'bubblewrap'] as const)('a login file in HOME, with isolation %s', (isolation) => {
  it('is on record before it is written, and the record never has its content', async () => {
    const data = dataFolder()
    const sandbox = await start(data, { isolation })
    const remove = await sandbox.putInHome({ [path]: login })
    expect(statSync(recordOf(data)).mode & 0o777).toBe(0o600)
    const record = readFileSync(recordOf(data), 'utf8')
    expect(JSON.parse(record)).toMatchObject({ files: [{ path, placed: true }] })
    expect(record).not.toContain('placed-for-an-agent')
    await remove()
    expect(() => statSync(recordOf(data))).toThrow('ENOENT')
    expect(await inHome(sandbox, 'ls -A .config')).toBe('')
  })

  it('is gone before the first command of the next start', async () => {
    const data = dataFolder()
    const before = await start(data, { isolation })
    await before.exec('mkdir -p "$HOME/.config" && echo mine > "$HOME/.config/other"')
    await before.putInHome({ [path]: login, 'top.json': login })
    // Drafts that a host left when it was killed while it wrote one.
    const { files } = JSON.parse(readFileSync(recordOf(data), 'utf8'))
    writeFileSync(join(homeOf(data), '.config', files[0].draft), login)
    await before.lifecycle.shutdown()
    expect(readdirSync(join(homeOf(data), '.config')).length).toBe(3)

    const after = await start(data, { isolation })
    expect(readdirSync(homeOf(data)).sort()).not.toContain('top.json')
    expect(await inHome(after, 'ls -A .config; cat .config/other')).toBe('other\nmine\n')
    const { events } = await after.journal.read({ types: ['operation.started'], order: 'desc' })
    const ops = events.map(({ data: facts }) => ('op' in facts ? facts.op : '')).reverse()
    expect(ops.lastIndexOf('clean_home')).toBeGreaterThan(0)
    expect(ops.slice(ops.lastIndexOf('clean_home')).filter((op) => op === 'exec').length).toBe(1)
  })

  it('does not cost the user a file that was there before', async () => {
    const data = dataFolder()
    const sandbox = await start(data, { isolation })
    await inHome(sandbox, 'mkdir .config && echo own > .config/login.json && chmod 640 .config/login.json')
    const remove = await sandbox.putInHome({ [path]: login })
    expect(await inHome(sandbox, `cat ${path}`)).toBe(login)
    await remove()
    expect(await inHome(sandbox, `stat -c %a ${path}; cat ${path}; ls -A`)).toBe('640\nown\n.config\n')

    await sandbox.putInHome({ [path]: login })
    await sandbox.lifecycle.shutdown()
    const next = await start(data, { isolation })
    expect(await inHome(next, `stat -c %a ${path}; cat ${path}; ls -A`)).toBe('640\nown\n.config\n')
  })

  it('is removed also if its agent wrote it again, or made a directory of it', async () => {
    const data = dataFolder()
    const sandbox = await start(data, { isolation })
    const remove = await sandbox.putInHome({ [path]: login, other: login })
    await inHome(sandbox, `echo renewed > fresh && mv fresh ${path} && rm other && mkdir -p other/below`)
    await remove()
    expect(await inHome(sandbox, 'ls -A .config')).toBe('')
    expect(await inHome(sandbox, 'ls -A')).toBe('.config\n')
  })
})

describe('the clean-up of HOME', () => {
  it('follows no link that a program put in the place of a directory', async () => {
    const data = dataFolder()
    const outside = join(data, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'login.json'), 'not ours')
    const sandbox = await start(data)
    await sandbox.putInHome({ [path]: login })
    await sandbox.lifecycle.shutdown()
    rmSync(join(homeOf(data), '.config'), { recursive: true })
    symlinkSync(outside, join(homeOf(data), '.config'))
    await start(data)
    expect(readFileSync(join(outside, 'login.json'), 'utf8')).toBe('not ours')
    expect(readlinkSync(join(homeOf(data), '.config'))).toBe(outside)
  })

  it('leaves the user’s own file if the host died before it was moved away', async () => {
    const data = dataFolder()
    const sandbox = await start(data)
    await inHome(sandbox, `mkdir .config && echo own > ${path}`)
    await sandbox.lifecycle.shutdown()
    const file = { path, draft: '.vitrine-draft-00', saved: '.vitrine-saved-00', placed: false }
    writeFileSync(recordOf(data), JSON.stringify({ version: 1, files: [file] }))
    const next = await start(data)
    expect(await inHome(next, `cat ${path}`)).toBe('own\n')
  })

  it('refuses to write where it could not remove: through a link out of HOME', async () => {
    const sandbox = await start(dataFolder())
    await sandbox.exec('mkdir elsewhere && ln -s "$PWD/elsewhere" "$HOME/.config"')
    await expect(sandbox.putInHome({ [path]: login })).rejects.toMatchObject({
      code: 'file_failed',
      message: expect.stringContaining('outside of HOME'),
    })
    expect((await sandbox.exec('ls -A elsewhere')).stdout).toBe('')
  })

  it('is part of destroying a sandbox whose HOME the caller chose', async () => {
    const data = dataFolder()
    const home = join(dataFolder(), 'given')
    mkdirSync(home)
    writeFileSync(join(home, 'mine'), '')
    const sandbox = await start(data, { home })
    await sandbox.putInHome({ [path]: login })
    await sandbox.lifecycle.destroy()
    expect(readdirSync(home).sort()).toEqual(['.config', 'mine'])
    expect(readdirSync(join(home, '.config'))).toEqual([])
  })

  it('fails the start if its record is damaged', async () => {
    const data = dataFolder()
    const sandbox = await start(data)
    await sandbox.putInHome({ [path]: login })
    await sandbox.lifecycle.shutdown()
    for (const damaged of [
      '{',
      '{}',
      JSON.stringify({ version: 1, files: [{ path: '../x', draft: '.vitrine-draft-0', placed: true }] }),
    ]) {
      writeFileSync(recordOf(data), damaged)
      await expect(start(data)).rejects.toMatchObject({ code: 'store_corrupt' })
    }
  })
})
