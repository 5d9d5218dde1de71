import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, isolations, openScene, say } from './prepared.ts'

function makeProject(): string {
  const source = folder()
  mkdirSync(join(source, 'src/deep'), { recursive: true })
  mkdirSync(join(source, 'node_modules/x'), { recursive: true })
  mkdirSync(join(source, 'empty'))
  writeFileSync(join(source, 'src/deep/run.sh'), '#!/bin/sh\necho copied\n')
  writeFileSync(join(source, 'node_modules/x/index.js'), '')
  writeFileSync(join(source, 'src/a.o'), 'object')
  chmodSync(join(source, 'src/deep/run.sh'), 0o750)
  symlinkSync('src/deep/run.sh', join(source, 'run'))
  symlinkSync('../src', join(source, 'empty/back'))
  chmodSync(join(source, 'empty'), 0o711)
  utimesSync(join(source, 'src/deep/run.sh'), 1_000_000_000, 1_000_000_000)
  utimesSync(join(source, 'src/deep'), 1_100_000_000, 1_100_000_000)
  return source
}

describe.each(isolations)('a copy from this machine under isolation %s', (isolation) => {
  it('copies modes, times and links, and skips ignored entries', async () => {
    const scene = await openScene()
    const source = makeProject()
    const sandbox = await scene.prepare(
      { copy: { 'code/app': { source, ignore: ['node_modules', '*.o'] } } },
      { isolation },
    )
    const app = join(sandbox.root, 'code/app')
    expect(readdirSync(app).toSorted()).toEqual(['empty', 'run', 'src'])
    expect(readdirSync(join(app, 'src'))).toEqual(['deep'])
    expect(readlinkSync(join(app, 'empty/back'))).toBe('../src')
    const script = lstatSync(join(app, 'src/deep/run.sh'))
    expect([script.mode & 0o7777, script.mtimeMs]).toEqual([0o750, 1_000_000_000_000])
    expect(lstatSync(join(app, 'src/deep')).mtimeMs).toBe(1_100_000_000_000)
    expect(lstatSync(join(app, 'empty')).mode & 0o7777).toBe(0o711)
    // It belongs to the user of the sandbox.
    expect(await say(sandbox, 'cd code/app && ./run && echo more >> src/deep/run.sh && echo changed')).toBe(
      'copied\nchanged',
    )
    expect(readFileSync(join(source, 'src/deep/run.sh'), 'utf8')).not.toContain('more')
  })

  it('copies into the whole workspace, or one file under another name', async () => {
    const scene = await openScene()
    const source = makeProject()
    const whole = await scene.prepare({ copy: { '.': source } }, { isolation })
    expect(readdirSync(whole.root).toSorted()).toEqual(['empty', 'node_modules', 'run', 'src'])
    const other = await openScene()
    // A link given as the source is followed, since it comes from the configuration.
    const one = await other.prepare({ copy: { 'bin/tool': join(source, 'run') } }, { isolation })
    expect(await say(one, 'bin/tool; stat -c %a bin/tool; stat -c %Y bin/tool')).toBe(
      'copied\n750\n1000000000',
    )
  })

  it('refuses a copy with a link that leads outside, names it, and leaves nothing behind', async () => {
    const scene = await openScene()
    const source = makeProject()
    symlinkSync('../../../etc/passwd', join(source, 'src/away'))
    const failing = scene.prepare({ copy: { app: source } }, { isolation })
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining('src/away'),
      details: { name: 'copy app', code: 'archive_refused' },
    })
    expect(scene.left()).toEqual([])
  })
})

it('fails before any step when a source is missing or neither a file nor a directory', async () => {
  const scene = await openScene()
  const place = folder()
  const missing = join(place, 'missing')
  const fifo = join(place, 'fifo')
  execFileSync('mkfifo', [fifo])
  for (const source of [missing, fifo])
    await expect(scene.prepare({ copy: { app: source } }, { isolation: 'none' })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(`workspace.copy.app`),
    })
  await expect(scene.prepare({ copy: { app: missing } }, { isolation: 'none' })).rejects.toThrow(missing)
  expect(await scene.events()).toEqual([])
})

it('refuses to copy a folder into itself', async () => {
  const scene = await openScene()
  await expect(scene.prepare({ copy: { app: scene.data } }, { isolation: 'none' })).rejects.toMatchObject({
    code: 'argument_invalid',
    message: expect.stringContaining('belongs to the sandbox'),
  })
})

it('skips and counts FIFOs and sockets', async () => {
  const scene = await openScene()
  const source = folder()
  execFileSync('mkfifo', [join(source, 'fifo')])
  writeFileSync(join(source, 'a'), 'x')
  const sandbox = await scene.prepare({ copy: { app: source } }, { isolation: 'none' })
  expect(await say(sandbox, 'ls app')).toBe('a')
  const copied = (await scene.events()).find(
    ({ type, data }) => type === 'operation.finished' && data.op === 'copy_in',
  )
  expect(copied?.data).toMatchObject({ files: 1, leftOut: 1 })
})
