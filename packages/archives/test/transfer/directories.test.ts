import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Unpacked } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { downloadDirectory, uploadDirectory } from '../../src/index.ts'
import { openBelow } from '../fixtures/open-descriptors.ts'
import { testDirectories } from '../fixtures/test-directory.ts'

const newTestDirectory = testDirectories()
const mebibyte = 1024 * 1024

function fill(path: string): void {
  for (const name of ['a', 'b']) {
    mkdirSync(join(path, name), { recursive: true })
    writeFileSync(join(path, name, 'large'), Buffer.alloc(2 * mebibyte, name))
  }
}

/** Unpacks what is uploaded, as a sandbox does. */
function copyTo(path: string): (archive: ReadableStream<Uint8Array>) => Promise<Unpacked> {
  return (archive) => downloadDirectory(async () => archive, path, {})
}

/** Mounts a file system of that size, or returns undefined where that is not possible. */
function smallDisk(size: string): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'vitrine-small-disk-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'pipe' })
    onTestFinished(() => void execFileSync('umount', [path]))
    return path
  } catch {
    return undefined
  }
}

it('a full disk names the directory of this machine, and nothing is left there or open', async ({ skip }) => {
  const { path, at } = newTestDirectory()
  fill(at('from'))
  const disk = smallDisk('3m')
  if (disk === undefined) return skip()
  await expect(uploadDirectory(copyTo(disk), at('from'), {})).rejects.toMatchObject({
    code: 'disk_full',
    message: `directory: in ${disk} of this machine: b/large: no space left on the disk.`,
    hint: expect.stringContaining('Free space on the disk of the path that the message names'),
  })
  expect(readdirSync(disk)).toEqual([])
  await expect.poll(() => openBelow(path)).toEqual([])
  await expect.poll(() => openBelow(disk)).toEqual([])
})

it('a read-only disk and a file in the way name the directory of this machine', async ({ skip }) => {
  const { at } = newTestDirectory()
  fill(at('from'))
  mkdirSync(at('to'))
  writeFileSync(at('to', 'b'), 'kept')
  await expect(uploadDirectory(copyTo(at('to')), at('from'), {})).rejects.toMatchObject({
    code: 'archive_refused',
    message: expect.stringMatching(
      `^directory: in ${at('to')} of this machine: The member "b" is a directory`,
    ),
  })
  expect(readdirSync(at('to'))).toEqual(['b'])
  const disk = smallDisk('1m')
  if (disk === undefined) return skip()
  execFileSync('mount', ['-o', 'remount,ro', disk])
  await expect(uploadDirectory(copyTo(disk), at('from'), {})).rejects.toMatchObject({
    code: 'file_read_only',
    message: expect.stringMatching(`^directory: in ${disk} of this machine: `),
  })
})

it.each<[what: string, change: (at: (...names: string[]) => string) => void]>([
  ['the source', (at) => rmSync(at('from'), { recursive: true, force: true })],
  ['a part of the source', (at) => rmSync(at('from/b'), { recursive: true, force: true })],
  ['the end of a file', (at) => truncateSync(at('from/a/large'), 10)],
  ['the target', (at) => rmSync(at('to'), { recursive: true, force: true })],
])('%s that is removed meanwhile leaves no file open', async (_, change) => {
  const { path, at } = newTestDirectory()
  fill(at('from'))
  mkdirSync(at('to'))
  await expect(
    uploadDirectory(copyTo(at('to')), at('from'), { onProgress: () => change(at) }),
  ).rejects.toMatchObject({ message: expect.stringContaining(path) })
  await expect.poll(() => openBelow(path)).toEqual([])
})
