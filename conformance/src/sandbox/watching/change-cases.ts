import { expect, it } from 'vitest'
import { type MakeSandbox, newSandbox } from '../kit.ts'
import { changeLines, changesOf, watchedSandbox } from './changes.ts'

/** The changes that a watcher must record, and those that it must not. */
export function changeCases(make: MakeSandbox): void {
  it('a watcher records watch.ready at its start, and no events for existing files', async ({ skip }) => {
    const under = await watchedSandbox(make, skip)
    await under.sandbox.exec('mkdir -p d && echo x > d/file')
    await under.sandbox.lifecycle.shutdown()
    await under.sandbox.lifecycle.start()
    const before = (await changesOf(under)).length
    expect(await changesOf(under)).toHaveLength(before)
    const { events } = await under.journal.read({ types: ['watch.ready'] })
    expect(events).toHaveLength(2)
    expect(events[0]?.data).toMatchObject({ root: under.sandbox.root })
    await under.sandbox.exec('echo more >> d/file')
    expect(changeLines(await changesOf(under)).slice(before)).toEqual(['changed d/file'])
  })

  it('a watcher records one `files.write` as exactly one event', async ({ skip }) => {
    const under = await watchedSandbox(make, skip)
    const { files } = under.sandbox
    const expected: string[] = []
    for (let index = 0; index < 10; index += 1) {
      await files.write(`file-${index}`, 'x'.repeat(index))
      expected.push(`created file-${index}`)
    }
    expect(changeLines(await changesOf(under)).toSorted()).toEqual(expected.toSorted())
    await files.write('file-1', 'again')
    await files.flush()
    await files.write('file-1', ' and more', { append: true })
    expect(changeLines(await changesOf(under)).slice(10)).toEqual(['changed file-1', 'changed file-1'])
  })

  it('a watcher records changes by commands like changes by `files`', async ({ skip }) => {
    const under = await watchedSandbox(make, skip)
    const { sandbox } = under
    // Each step is one change: a shell that writes a new file makes two.
    const steps: [name: string, byFiles: () => Promise<unknown>, byCommand: string, expected: string[]][] = [
      [
        'make',
        () => sandbox.files.mkdir('a/b', { parents: true }),
        'mkdir -p a/b',
        ['created a', 'created a/b'],
      ],
      ['write', () => sandbox.files.write('a/b/f', 'x'), ': > a/b/f', ['created a/b/f']],
      ['change', () => sandbox.files.write('a/b/f', 'yy'), 'printf yy >> a/b/f', ['changed a/b/f']],
      ['chmod', () => sandbox.files.chmod('a/b/f', 0o600), 'chmod 600 a/b/f', ['changed a/b/f']],
      ['move', () => sandbox.files.move('a/b/f', 'a/g'), 'mv a/b/f a/g', ['moved a/b/f → a/g']],
      [
        'move all',
        () => sandbox.files.move('a', 'c'),
        'mv a c',
        ['moved a/b → c/b', 'moved a/g → c/g', 'moved a → c'],
      ],
      [
        'remove',
        () => sandbox.files.remove('c', { recursive: true }),
        'rm -r c',
        ['deleted c/b', 'deleted c/g', 'deleted c'],
      ],
    ]
    let seen = 0
    for (const way of ['files', 'command'])
      for (const [name, byFiles, byCommand, expected] of steps) {
        if (way === 'files') await byFiles()
        else expect(await sandbox.exec(byCommand)).toMatchObject({ outcome: 'ok' })
        const all = changeLines(await changesOf(under))
        const got = all.slice(seen)
        seen = all.length
        // Siblings may come in any order; their directory comes last.
        expect({ way, name, got: [...got.slice(0, -1).toSorted(), ...got.slice(-1)] }).toEqual({
          way,
          name,
          got: [...expected.slice(0, -1).toSorted(), ...expected.slice(-1)],
        })
      }
  })

  it('a watcher has recorded every change when a flush returns', async ({ skip }) => {
    const under = await watchedSandbox(make, skip)
    const { sandbox } = under
    for (let round = 1; round <= 10; round += 1) {
      await sandbox.files.write(`by-host-${round}`, '')
      await sandbox.exec(`mkdir -p d-${round}/e; : > d-${round}/e/f`)
      await sandbox.files.flush()
      expect(changeLines(await changesOf(under))).toHaveLength(round * 4)
    }
  })

  it('a watcher records a growing file as created once, and then as changed', async ({ skip }) => {
    const under = await watchedSandbox(make, skip)
    const process = await under.sandbox.spawn('cat > log')
    for (const part of ['one', 'two', 'three']) {
      const before = (await changesOf(under)).at(-1)?.data.size ?? 0
      await process.input(part)
      await under.sandbox.exec(`while [ $(stat -c %s log) -le ${before} ]; do sleep 0.01; done`)
    }
    await process.end()
    await process.exit
    const lines = changeLines(await changesOf(under))
    expect(lines[0]).toBe('created log')
    expect(lines.length).toBeGreaterThanOrEqual(3)
    expect(new Set(lines.slice(1))).toEqual(new Set(['changed log']))
  })

  it('a watcher ignores .git and node_modules at any depth, also as files', async ({ skip }) => {
    const under = await watchedSandbox(make, skip)
    await under.sandbox.exec(
      'mkdir -p .git/objects sub/node_modules/x other && echo x > .git/objects/a && echo x > sub/node_modules/x/y && echo gitdir > other/.git',
    )
    expect(changeLines(await changesOf(under)).toSorted()).toEqual(['created other', 'created sub'])
  })

  it('a watcher ignores exactly the given patterns', async ({ skip }) => {
    const under = await watchedSandbox(make, skip, { watch: { ignore: ['*.tmp', 'build'] } })
    await under.sandbox.exec('mkdir build .git && : > build/x && : > a.tmp && : > a.txt && : > .git/HEAD')
    expect(changeLines(await changesOf(under)).toSorted()).toEqual([
      'created .git',
      'created .git/HEAD',
      'created a.txt',
    ])
  })

  it('a watcher names the directories that it does not cover', async ({ skip }) => {
    const under = await watchedSandbox(make, skip, { watch: { maxEntries: 5 } })
    await under.sandbox.exec('mkdir d; for i in 1 2 3 4 5 6 7 8; do : > d/$i; done')
    expect(await changesOf(under)).toHaveLength(5)
    await under.sandbox.lifecycle.shutdown()
    const { events } = await under.journal.read({ types: ['watch.degraded'] })
    expect(events.map(({ data }) => data)).toEqual([
      expect.objectContaining({ uncovered: ['d'], reason: expect.any(String) }),
    ])
  })

  it('a sandbox without a watcher reports the capability none and refuses a flush', async ({ skip }) => {
    await watchedSandbox(make, skip)
    const under = await newSandbox(make, { watch: false })
    expect(under.sandbox.capabilities.watching).toBe('none')
    await under.sandbox.exec(': > file')
    await expect(under.sandbox.files.flush()).rejects.toMatchObject({ code: 'unsupported' })
    const { events } = await under.journal.read({ types: ['file.*', 'watch.*'] })
    expect(events).toEqual([])
  })
}
