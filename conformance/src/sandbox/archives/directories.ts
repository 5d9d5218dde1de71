import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DirectoryProgress } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { outputOf, someBytes } from '../files/content.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions, sharedSandbox } from '../kit.ts'

/** A directory of the caller's machine, which is not the sandbox's. */
function callersDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'vitrine-kit-caller-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Several parts of an archive: one part has 512 KiB. */
function fillWithParts(path: string): void {
  for (const name of ['a', 'b', 'c']) {
    mkdirSync(join(path, name))
    writeFileSync(join(path, name, 'large'), someBytes(1_500_000))
  }
}

export function directoryCases(make: MakeSandbox, { remote = false }: SandboxKitOptions): void {
  describe('directories of the caller', () => {
    const shared = sharedSandbox(make)

    it('uploadDirectory brings files, modes, links and any name, and downloadDirectory brings them back', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      mkdirSync(join(path, 'src/empty'), { recursive: true })
      writeFileSync(join(path, 'src/run'), '#!/bin/sh\necho ran\n', { mode: 0o750 })
      writeFileSync(join(path, 'a\nb "c" é'), 'odd name')
      symlinkSync('src/run', join(path, 'link'))
      const uploaded = await sandbox.files.uploadDirectory(path, { to: 'deep/app' })
      expect(uploaded).toMatchObject({ files: 2, directories: 2, links: 1, leftOutCount: 0 })
      expect(await outputOf(sandbox, 'cd deep/app && ./link && cat a*b*é && stat -c %a src/run')).toBe(
        'ran\nodd name750',
      )
      const back = join(callersDirectory(), 'new/directory')
      const downloaded = await sandbox.files.downloadDirectory(back, { from: 'deep/app' })
      expect(downloaded).toMatchObject({ files: 2, directories: 2, links: 1 })
      expect(readdirSync(back, { recursive: true }).toSorted()).toEqual(
        readdirSync(path, { recursive: true }).toSorted(),
      )
      expect(readFileSync(join(back, 'a\nb "c" é'), 'utf8')).toBe('odd name')
      expect(readlinkSync(join(back, 'link'))).toBe('src/run')
      expect(statSync(join(back, 'src/run')).mode & 0o777).toBe(0o750)
    })

    it('both use the workspace by default, replace files and keep others', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      writeFileSync(join(path, 'same'), 'new')
      await sandbox.exec('echo old > same; echo mine > other')
      await sandbox.files.uploadDirectory(path)
      expect(await outputOf(sandbox, 'cat same other')).toBe('newmine')
      writeFileSync(join(path, 'same'), 'older')
      writeFileSync(join(path, 'kept'), 'kept')
      await sandbox.files.downloadDirectory(path)
      expect(readdirSync(path).toSorted()).toEqual(['kept', 'other', 'same'])
      expect(readFileSync(join(path, 'same'), 'utf8')).toBe('new')
    })

    it('both report growing progress up to the last entry', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      fillWithParts(path)
      const up: DirectoryProgress[] = []
      const down: DirectoryProgress[] = []
      await sandbox.files.uploadDirectory(path, { to: 'in', onProgress: (progress) => up.push(progress) })
      const back = callersDirectory()
      await sandbox.files.downloadDirectory(back, { from: 'in', onProgress: (one) => down.push(one) })
      for (const reports of [up, down]) {
        expect(reports.length).toBeGreaterThan(3)
        expect(reports.at(-1)).toMatchObject({ entries: 6 })
        expect(reports.at(-1)!.bytes).toBeGreaterThan(4_500_000)
        expect(reports).toEqual(reports.toSorted((a, b) => a.bytes - b.bytes))
      }
    })

    it.each<[about: string, code: string, changed: string, change: (path: string) => void]>([
      ['removed', 'file_not_found', ' was removed', (path) => rmSync(path, { recursive: true, force: true })],
      [
        'removed in part',
        'file_not_found',
        '/c was removed',
        (path) => rmSync(join(path, 'c'), { recursive: true, force: true }),
      ],
      [
        'shortened in part',
        'file_busy',
        '/a/large was changed',
        (path) => truncateSync(join(path, 'a/large'), 10),
      ],
      [
        'extended in part',
        'file_busy',
        '/a/large was changed',
        (path) => appendFileSync(join(path, 'a/large'), 'more'),
      ],
    ])(
      'a directory that is %s while it is uploaded is an error, and nothing is written',
      async (_, code, changed, change) => {
        const { sandbox } = await shared()
        const path = callersDirectory()
        fillWithParts(path)
        const onProgress = () => change(path)
        await expect(sandbox.files.uploadDirectory(path, { to: 'in', onProgress })).rejects.toMatchObject({
          code,
          message: `directory: ${path}${changed} while it was being uploaded; nothing was written.`,
        })
        expect(await outputOf(sandbox, 'ls -A')).toBe('')
      },
    )

    it('a directory that is removed while it is written, or while it is read in the sandbox, is an error', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      fillWithParts(path)
      await sandbox.files.uploadDirectory(path, { to: 'in' })
      const back = callersDirectory()
      await expect(
        sandbox.files.downloadDirectory(back, {
          from: 'in',
          onProgress: () => rmSync(back, { recursive: true, force: true }),
        }),
      ).rejects.toMatchObject({
        code: 'file_not_found',
        message: `directory: ${back} was removed while it was being written.`,
      })
      expect(existsSync(back)).toBe(false)
      // More files than the buffers of a connection hold.
      await sandbox.exec('for i in $(seq 40); do head -c 1000000 /dev/zero > in/z$i; done')
      const reader = (await sandbox.files.download('in')).getReader()
      await reader.read()
      await sandbox.exec('rm -r in')
      const readToEnd = async () => {
        while (!(await reader.read()).done);
      }
      await expect(readToEnd()).rejects.toMatchObject(
        remote
          ? { code: 'connection_failed' }
          : { code: 'file_not_found', message: 'in was removed while it was being packed.' },
      )
    })

    it('a signal stops both, and nothing is written', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      fillWithParts(path)
      const upload = new AbortController()
      const stopped = { code: 'cancelled' }
      await expect(
        sandbox.files.uploadDirectory(path, {
          to: 'in',
          signal: upload.signal,
          onProgress: () => upload.abort(),
        }),
      ).rejects.toMatchObject(stopped)
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
      await sandbox.files.uploadDirectory(path, { to: 'in' })
      const back = callersDirectory()
      const download = new AbortController()
      await expect(
        sandbox.files.downloadDirectory(back, {
          from: 'in',
          signal: download.signal,
          onProgress: () => download.abort(),
        }),
      ).rejects.toMatchObject(stopped)
      expect(readdirSync(back)).toEqual([])
    })

    it('a file beyond the limit of archives is refused with the name of the limit', async () => {
      const { sandbox } = await newSandbox(make, { limits: { archives: { expandedBytes: 1_000_000 } } })
      const path = callersDirectory()
      writeFileSync(join(path, 'large'), someBytes(1_000_001))
      await expect(sandbox.files.uploadDirectory(path)).rejects.toMatchObject({
        code: 'archive_too_large',
        message: expect.stringContaining('expandedBytes'),
      })
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
    })

    it('a link that leads out is refused by both', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      symlinkSync('/etc/passwd', join(path, 'out'))
      const refused = { code: 'archive_refused', message: expect.stringContaining('out') }
      await expect(sandbox.files.uploadDirectory(path)).rejects.toMatchObject(refused)
      await sandbox.exec('mkdir d && ln -s /etc d/out && ln -s ../.. d/up && echo x > d/file')
      const back = callersDirectory()
      await expect(sandbox.files.downloadDirectory(back, { from: 'd' })).rejects.toMatchObject(refused)
      expect(readdirSync(back)).toEqual([])
    })

    it('a download does not write through a link of the caller', async () => {
      const { sandbox } = await shared()
      const [elsewhere, back] = [callersDirectory(), callersDirectory()]
      symlinkSync(elsewhere, join(back, 'd'))
      await sandbox.exec('mkdir d && echo x > d/file')
      await expect(sandbox.files.downloadDirectory(back)).rejects.toMatchObject({ code: 'archive_refused' })
      expect(readdirSync(elsewhere)).toEqual([])
      expect(lstatSync(join(back, 'd')).isSymbolicLink()).toBe(true)
    })

    it('a directory that does not exist, or a file in its place, is an error that names the argument', async () => {
      const { sandbox } = await shared()
      const path = callersDirectory()
      const file = join(path, 'file')
      writeFileSync(file, 'x')
      await sandbox.files.write('file', 'x')
      const { files } = sandbox
      for (const [call, code, start] of [
        [() => files.uploadDirectory(join(path, 'none')), 'file_not_found', 'directory: '],
        [() => files.uploadDirectory(file), 'file_not_directory', 'directory: '],
        // An empty path would be the working directory.
        [() => files.uploadDirectory(''), 'argument_invalid', 'directory: expected the path .*, got ""\\.$'],
        [
          () => files.downloadDirectory(''),
          'argument_invalid',
          'directory: expected the path .*, got ""\\.$',
        ],
        [() => files.downloadDirectory(join(file, 'x')), 'file_not_directory', 'directory: '],
        [() => files.downloadDirectory(join(path, 'new'), { from: 'none' }), 'file_not_found', ''],
        [() => files.downloadDirectory(join(path, 'new'), { from: 'file' }), 'file_not_directory', 'from: '],
      ] as const)
        await expect(call()).rejects.toMatchObject({
          code,
          message: expect.stringMatching(new RegExp(`^${start}`)),
        })
      expect(existsSync(join(path, 'new/file'))).toBe(false)
    })
  })
}
