import { describe, expect, it } from 'vitest'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'

export function listingCases(make: MakeSandbox): void {
  describe('listing', () => {
    const shared = sharedSandbox(make)

    it('list returns the entries by name, with kind, size, mode and target', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir folder; printf four > file; chmod 640 file; ln -s file link; ln -s nowhere dangling; mkfifo fifo; : > .hidden',
      )
      const { entries, truncated } = await sandbox.files.list('.')
      expect(truncated).toBe(false)
      expect(entries).toMatchObject([
        { path: '.hidden', kind: 'file', size: 0 },
        { path: 'dangling', kind: 'symlink', target: 'nowhere' },
        { path: 'fifo', kind: 'other' },
        { path: 'file', kind: 'file', size: 4, mode: 0o640 },
        { path: 'folder', kind: 'directory' },
        { path: 'link', kind: 'symlink', target: 'file' },
      ])
      expect(Date.parse(entries[3]!.modifiedAt)).toBeGreaterThan(Date.now() - 3_600_000)
    })

    it('list returns paths relative to the root for every form of the given path', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('mkdir -p a/b; : > a/b/c; ln -s a/b link')
      for (const path of ['a/b', './a//b/', `${sandbox.root}/a/b`, 'a/../a/b', 'link'])
        expect(
          (await sandbox.files.list(path)).entries.map((entry) => entry.path),
          path,
        ).toEqual(['a/b/c'])
    })

    it('list stops at its limit, and reports the truncation', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('for i in $(seq 30); do : > $i; done')
      const cut = await sandbox.files.list('.', { limit: 10 })
      expect([cut.entries.length, cut.truncated]).toEqual([10, true])
      const whole = await sandbox.files.list('.', { limit: 30 })
      expect([whole.entries.length, whole.truncated]).toEqual([30, false])
      for (const limit of [0, -1, 1.5, Number.NaN])
        await expect(sandbox.files.list('.', { limit })).rejects.toMatchObject({ code: 'argument_invalid' })
    })

    it('list refuses missing paths and paths that are no directory', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(': > file')
      await expect(sandbox.files.list('missing')).rejects.toMatchObject({ code: 'file_not_found' })
      await expect(sandbox.files.list('file')).rejects.toMatchObject({ code: 'file_not_directory' })
    })
  })

  describe('stat and exists', () => {
    const shared = sharedSandbox(make)

    it('stat describes a link itself, and exists follows it', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec(
        'printf four > file; ln -s file link; ln -s nowhere dangling; mkdir folder; ln -s folder way',
      )
      expect(await files.stat('link')).toMatchObject({ path: 'link', kind: 'symlink', target: 'file' })
      expect(await files.stat('file')).toMatchObject({ path: 'file', kind: 'file', size: 4 })
      expect(await files.stat('way/')).toMatchObject({ path: 'folder', kind: 'directory' })
      expect(await files.stat('.')).toMatchObject({ path: '.', kind: 'directory' })
      const found = await Promise.all(
        ['file', 'link', 'dangling', 'missing', 'missing/deeper', 'file/deeper', '.', 'way'].map((path) =>
          files.exists(path),
        ),
      )
      expect(found).toEqual([true, true, false, false, false, false, true, true])
      await expect(files.stat('missing')).rejects.toMatchObject({ code: 'file_not_found' })
    })
  })
}

/** Listings of thousands of files. */
export function largeListingCases(make: MakeSandbox): void {
  describe('listing', () => {
    it('list is limited to 10,000 entries by default', async () => {
      const { sandbox } = await newSandbox(make, { watch: false })
      await sandbox.exec('mkdir many; cd many; seq 10001 | xargs touch')
      const cut = await sandbox.files.list('many')
      expect([cut.entries.length, cut.truncated]).toEqual([10_000, true])
      expect((await sandbox.files.list('many', { limit: 10_001 })).truncated).toBe(false)
    })
  })
}
