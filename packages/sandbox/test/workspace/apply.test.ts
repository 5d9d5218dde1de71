import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, isolations, openScene, say } from './prepared.ts'

describe.each(isolations)('a manifest under isolation %s', (isolation) => {
  it('applies directories, files, copies and commands in this order, each as its own operation', async () => {
    const scene = await openScene()
    const source = folder()
    writeFileSync(join(source, 'given.txt'), 'given')
    const sandbox = await scene.prepare(
      {
        setup: ['cat a/b.txt lib/given.txt > both', { run: ['cp', 'both', 'copy'], name: 'copies' }],
        copy: { lib: source },
        files: { 'a/b.txt': 'text ', 'bin/run.sh': { content: '#!/bin/sh\necho ran\n', mode: 0o755 } },
        directories: ['empty/inner', { path: 'private', mode: 0o700 }],
      },
      { isolation },
    )
    expect(await say(sandbox, 'cat copy; echo; bin/run.sh; stat -c "%a %n" private empty/inner a')).toBe(
      'text given\nran\n700 private\n755 empty/inner\n755 a',
    )
    const events = await scene.events()
    const applied = events.find(({ data }) => data.op === 'apply_manifest')
    const below = events.filter(
      ({ type, data }) => type === 'operation.started' && data.parent === applied?.operation,
    )
    expect(below.map(({ data }) => data.op)).toEqual([
      'mkdir',
      'mkdir',
      'write',
      'write',
      'copy_in',
      'exec',
      'exec',
    ])
    const order = ['1', '2', '3', '4', '5', '6', '7'].flatMap((step) => [
      `${step} started`,
      `${step} finished`,
    ])
    expect(await scene.steps()).toEqual(order)
    const progress = await scene.progress()
    expect(progress.map(({ done, total }) => [done, total])).toEqual(
      [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7].map((done) => [done, 7]),
    )
    expect(progress.at(-1)).toMatchObject({ name: 'copies', exitCode: 0 })
    const ready = events.findIndex(({ type }) => type === 'sandbox.ready')
    expect(ready).toBeGreaterThan(events.findIndex(({ data }) => data.name === 'copies'))
  })

  it("passes the manifest's variables to every command, and a step's variables to that step", async () => {
    const scene = await openScene()
    // A value with both kinds of quotes must survive a shell: tanstack-ai B5.
    const hard = 'two  words "double" \'single\' $HOME `x` \\ \n end'
    const print = (to: string) => `printf "%s|%s|" "$HARD" "$STEP" > "$OUT/${to}"; pwd >> "$OUT/${to}"`
    const sandbox = await scene.prepare(
      {
        directories: ['deep/er', 'out'],
        env: { HARD: hard, STEP: 'none', OUT: '../../out' },
        setup: [
          { run: print('serial'), cwd: 'deep/er' },
          {
            parallel: [
              { run: print('one'), cwd: 'deep/er', env: { STEP: '1' } },
              { run: print('two'), cwd: 'deep/er', env: { STEP: '2' } },
            ],
          },
        ],
      },
      { isolation },
    )
    const where = join(sandbox.root, 'deep/er')
    expect(await say(sandbox, 'cat out/serial out/one out/two')).toBe(
      ['none', '1', '2'].map((step) => `${hard}|${step}|${where}`).join('\n'),
    )
    expect(await say(sandbox, 'printf %s "$HARD"')).toBe(hard)
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect(await say(sandbox, 'printf %s "$HARD"')).toBe(hard)
  })

  it('runs exactly as many steps of a group in parallel as allowed', async () => {
    const scene = await openScene()
    const counted = (own: string, other?: string) =>
      [
        `touch running/${own} met/${own}`,
        'ls running | wc -l >> seen',
        ...(other === undefined ? [] : [`until [ -e met/${other} ]; do sleep 0.01; done`]),
        `rm running/${own}`,
      ].join('; ')
    const sandbox = await scene.prepare(
      {
        directories: ['running', 'met'],
        // The first two wait for each other, so that neither ends alone.
        setup: [
          {
            parallel: [
              counted('a', 'b'),
              counted('b', 'a'),
              ...['c', 'd', 'e', 'f', 'g'].map((own) => counted(own)),
            ],
          },
        ],
        concurrency: 2,
      },
      { isolation },
    )
    const seen = (await say(sandbox, 'cat seen')).split('\n').map(Number)
    expect(seen).toHaveLength(7)
    expect(Math.max(...seen)).toBe(2)
  })

  it('fills a given workspace, and one whose folder already exists', async () => {
    const scene = await openScene()
    const root = join(folder(), 'project')
    mkdirSync(root)
    const sandbox = await scene.prepare(
      { files: { 'a.txt': 'a' }, setup: ['cp a.txt b.txt'] },
      { isolation, root },
    )
    expect(await say(sandbox, 'ls; cat b.txt')).toBe('a.txt\nb.txt\na')
  })
})
