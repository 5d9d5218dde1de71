import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import { type JsonlSinkOptions, jsonlSink } from '../../src/sinks/jsonl.ts'
import type { Sink } from '../../src/sinks/sink.ts'
import { thrownBy } from '../fixtures/until.ts'
import { batch, event, eventOfBytes, going, numbers } from './events.ts'
import { folder } from './folder.ts'

describe('jsonlSink', () => {
  test('writes one event per line, creates directories, and restricts access to the owner', async () => {
    const path = join(await folder(), 'deep', 'down', 'audit.jsonl')
    const sink = opened({ path })
    const events = [event(1), event(2, { data: { level: 'info', message: 'a\nb \u2028 ü \ud800' } })]
    await sink.write(batch(events), going)
    expect(readFileSync(path, 'utf8')).toBe(events.map((one) => `${JSON.stringify(one)}\n`).join(''))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  })

  test('appends to an existing file', async () => {
    const path = join(await folder(), 'audit.jsonl')
    for (const seq of [1, 2, 3]) {
      const sink = jsonlSink({ path })
      await sink.write(batch([event(seq)], `key-${seq}`), going)
      await sink.close?.()
    }
    expect(seqs(path)).toEqual([1, 2, 3])
  })

  test('closes its file, and closing twice is fine', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = jsonlSink({ path })
    await sink.write(batch([event(1)]), going)
    expect(openFiles()).toContain(path)
    await sink.close?.()
    await sink.close?.()
    expect(openFiles()).not.toContain(path)
  })

  test('keeps the file open between batches', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path })
    await sink.write(batch([event(1)]), going)
    const before = openFiles().filter((file) => file === path).length
    await sink.write(batch([event(2)], 'key-2'), going)
    expect([before, openFiles().filter((file) => file === path).length]).toEqual([1, 1])
  })

  test('writes nothing once the signal has aborted', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const signal = AbortSignal.abort(new Error('closing'))
    await expect(opened({ path }).write(batch([event(1)]), { signal })).rejects.toThrow('closing')
    expect(existsSync(path)).toBe(false)
  })

  test('rejects invalid options', () => {
    expect(() => jsonlSink({ path: '' })).toThrow('path: expected the path of a file, got ""')
    expect(() => jsonlSink({ path: 'a', maxBytes: 0 })).toThrow('maxBytes: expected a whole number')
    expect(() => jsonlSink({ path: 'a', keep: -1 })).toThrow('keep: expected a whole number')
  })

  test('keeps its file when the process changes its working directory', async () => {
    const [here, home] = [await folder(), process.cwd()]
    onTestFinished(() => process.chdir(home))
    process.chdir(here)
    const sink = opened({ path: 'audit.jsonl' })
    process.chdir(home)
    await sink.write(batch([event(1)]), going)
    expect(seqs(join(here, 'audit.jsonl'))).toEqual([1])
  })

  test('writes and rotates the same with fsync', async () => {
    const path = join(await folder(), 'made', 'here', 'audit.jsonl')
    const sink = opened({ path, fsync: true, maxBytes: 400 })
    await sink.write(batch(numbers(1, 6).map((seq) => eventOfBytes(seq, 200))), going)
    expect([seqs(`${path}.2`), seqs(`${path}.1`), seqs(path)]).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ])
  })
})

describe('a partial line left by a crash', () => {
  test('is removed before the next write', async () => {
    const path = join(await folder(), 'audit.jsonl')
    await writeFile(path, `${JSON.stringify(event(1))}\n${JSON.stringify(event(2)).slice(0, 40)}`)
    await opened({ path }).write(batch([event(2), event(3)]), going)
    expect(seqs(path)).toEqual([1, 2, 3])
  })

  test('is removed when it is the whole file', async () => {
    const path = join(await folder(), 'audit.jsonl')
    await writeFile(path, JSON.stringify(event(1)).slice(0, 40))
    await opened({ path }).write(batch([event(1)]), going)
    expect(seqs(path)).toEqual([1])
  })

  test('is removed when it is longer than many blocks', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const long = JSON.stringify(eventOfBytes(2, 300_000)).slice(0, 250_000)
    await writeFile(path, `${JSON.stringify(event(1))}\n${long}`)
    await opened({ path }).write(batch([event(2)]), going)
    expect(seqs(path)).toEqual([1, 2])
  })

  test('is removed when power loss left zeros in its place', async () => {
    const path = join(await folder(), 'audit.jsonl')
    await writeFile(path, `${JSON.stringify(event(1))}\n${'\0'.repeat(100)}`)
    await opened({ path }).write(batch([event(2)]), going)
    expect(seqs(path)).toEqual([1, 2])
  })

  test('is distinguished from a file of another program, which is not changed', async () => {
    const path = join(await folder(), 'notes.txt')
    await writeFile(path, 'my notes\nwithout an end')
    const error = await thrownBy(() => opened({ path }).write(batch([event(1)]), going))
    expect(error).toMatchObject({ code: 'sink_unwritable', details: { path } })
    expect(readFileSync(path, 'utf8')).toBe('my notes\nwithout an end')
  })
})

describe('a write that fails half-way', () => {
  // A file size limit of the kernel: a write that crosses it is truncated, then fails.
  const limited = existsSync('/usr/bin/prlimit')

  test.runIf(limited)('leaves no partial line, and the retry is complete', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path })
    await sink.write(batch([eventOfBytes(1, 1_000)]), going)
    const more = batch(
      numbers(2, 20).map((seq) => eventOfBytes(seq, 1_000)),
      'key-2',
    )
    const error = await withFileSizeLimit(8_500, () => thrownBy(() => sink.write(more, going)))
    expect(error).toMatchObject({ code: 'sink_unwritable', details: { path, systemCode: 'EFBIG' } })
    expect(statSync(path).size).toBe(1_000)
    await sink.write(more, going)
    expect(seqs(path)).toEqual(numbers(1, 20))
  })

  test.runIf(limited && canForbidCutting())(
    'is truncated before the retry when the first truncation failed',
    async () => {
      const path = join(await folder(), 'audit.jsonl')
      const sink = opened({ path })
      await sink.write(batch([eventOfBytes(1, 1_000)]), going)
      const more = batch(
        numbers(2, 20).map((seq) => eventOfBytes(seq, 1_000)),
        'key-2',
      )
      execFileSync('chattr', ['+a', path])
      try {
        await withFileSizeLimit(8_500, () => thrownBy(() => sink.write(more, going)))
        expect(statSync(path).size).toBe(8_500)
        expect(await thrownBy(() => sink.write(more, going))).toMatchObject({
          details: { systemCode: 'EPERM' },
        })
        expect(statSync(path).size).toBe(8_500)
      } finally {
        execFileSync('chattr', ['-a', path])
      }
      await sink.write(more, going)
      expect(seqs(path)).toEqual(numbers(1, 20))
    },
  )

  test.runIf(limited)('does not repeat the parts that are in a rotated file', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path, maxBytes: 4_000 })
    const events = [...numbers(1, 8).map((seq) => eventOfBytes(seq, 1_000)), eventOfBytes(9, 9_000)]
    await withFileSizeLimit(8_500, () => thrownBy(() => sink.write(batch(events), going)))
    expect([seqs(`${path}.2`), seqs(`${path}.1`), seqs(path)]).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], []])
    await sink.write(batch(events), going)
    expect([seqs(`${path}.2`), seqs(`${path}.1`), seqs(path)]).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [9]])
    expect(existsSync(`${path}.3`)).toBe(false)
  })

  test.runIf(limited)('keeps the written chunks of a large batch and repeats none of them', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path })
    const large = batch(numbers(1, 100).map((seq) => eventOfBytes(seq, 30_000)))
    await withFileSizeLimit(2_500_000, () => thrownBy(() => sink.write(large, going)))
    const kept = seqs(path)
    expect(kept.length).toBeGreaterThan(0)
    expect(kept).toEqual(numbers(1, kept.length))
    await sink.write(large, going)
    expect(seqs(path)).toEqual(numbers(1, 100))
  })

  test.runIf(canMount())(
    'leaves no partial line on a full disk, and continues once there is space',
    async () => {
      const disk = await tinyDisk()
      const path = join(disk, 'audit.jsonl')
      const ballast = join(disk, 'ballast')
      writeFileSync(ballast, Buffer.alloc(40 * 1024))
      const sink = opened({ path, fsync: true })
      await sink.write(batch([eventOfBytes(1, 1_000)]), going)
      const more = batch(
        numbers(2, 40).map((seq) => eventOfBytes(seq, 1_000)),
        'key-2',
      )
      for (let tries = 0; tries < 3; tries += 1) {
        const error = await thrownBy(() => sink.write(more, going))
        expect(error).toMatchObject({ code: 'sink_unwritable', details: { path, systemCode: 'ENOSPC' } })
        expect(seqs(path)).toEqual([1])
      }
      rmSync(ballast)
      await sink.write(more, going)
      expect(seqs(path)).toEqual(numbers(1, 40))
    },
  )
})

describe('a path that cannot be written', () => {
  test('fails each time with the path, the system error code and the cause', async () => {
    const parent = join(await folder(), 'a-file')
    await writeFile(parent, '')
    const path = join(parent, 'audit.jsonl')
    const sink = opened({ path })
    for (const key of ['key-1', 'key-1']) {
      const error = await thrownBy(() => sink.write(batch([event(1)], key), going))
      expect(error).toMatchObject({
        code: 'sink_unwritable',
        message: expect.stringContaining(`Expected to append to ${path}, got `),
        details: { path, systemCode: expect.stringMatching(/^(ENOTDIR|EEXIST)$/) },
        cause: expect.any(Error),
      })
    }
    rmSync(parent)
    await sink.write(batch([event(1)]), going)
    expect(seqs(path)).toEqual([1])
  })

  test('fails when it is a directory', async () => {
    const path = await folder()
    const error = await thrownBy(() => opened({ path }).write(batch([event(1)]), going))
    expect(error).toMatchObject({ code: 'sink_unwritable', details: { path, systemCode: 'EISDIR' } })
  })

  test('fails at once when it is a device or a pipe without a reader', async () => {
    const pipe = join(await folder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of ['/dev/full', pipe]) {
      const error = await thrownBy(() => opened({ path }).write(batch([event(1)]), going))
      expect(error).toMatchObject({
        code: 'sink_unwritable',
        message: `Expected ${path} to be a regular file, got another kind of file. For devices and pipes, use callbackSink().`,
      })
      expect(openFiles()).not.toContain(path)
    }
  })
})

describe('a file changed by another program', () => {
  test('is created again when it was renamed, as logrotate does', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path })
    await sink.write(batch([event(1)]), going)
    renameSync(path, `${path}-yesterday`)
    await sink.write(batch([event(2)], 'key-2'), going)
    expect([seqs(`${path}-yesterday`), seqs(path)]).toEqual([[1], [2]])
  })

  test('is reopened when it was replaced', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path })
    await sink.write(batch([event(1)]), going)
    writeFileSync(`${path}.new`, `${JSON.stringify(event(10))}\n{"torn`)
    renameSync(`${path}.new`, path)
    await sink.write(batch([event(11)], 'key-2'), going)
    expect(seqs(path)).toEqual([10, 11])
  })

  test('is created again with its directory when both were removed', async () => {
    const directory = join(await folder(), 'logs')
    const path = join(directory, 'audit.jsonl')
    const sink = opened({ path })
    await sink.write(batch([event(1)]), going)
    rmSync(directory, { recursive: true })
    await sink.write(batch([event(2)], 'key-2'), going)
    expect(seqs(path)).toEqual([2])
  })

  test('is continued when it was truncated in place', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path, maxBytes: 1_500 })
    await sink.write(batch([eventOfBytes(1, 1_000)]), going)
    writeFileSync(path, '')
    await sink.write(batch([eventOfBytes(2, 1_000)], 'key-2'), going)
    expect(seqs(path)).toEqual([2])
    expect(existsSync(`${path}.1`)).toBe(false)
  })
})

describe('rotation', () => {
  test('keeps the configured number of old files in order', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path, maxBytes: 250, keep: 2 })
    for (const seq of numbers(1, 5)) await sink.write(batch([eventOfBytes(seq, 200)], `key-${seq}`), going)
    expect([seqs(`${path}.2`), seqs(`${path}.1`), seqs(path)]).toEqual([[3], [4], [5]])
    expect(existsSync(`${path}.3`)).toBe(false)
  })

  test('fills a file to the last byte before it starts the next', async () => {
    const path = join(await folder(), 'audit.jsonl')
    await opened({ path, maxBytes: 400 }).write(
      batch(numbers(1, 3).map((seq) => eventOfBytes(seq, 200))),
      going,
    )
    expect([statSync(`${path}.1`).size, seqs(path)]).toEqual([400, [3]])
  })

  test('writes an event larger than a file completely into its own file', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const events = [eventOfBytes(1, 200), eventOfBytes(2, 5_000), eventOfBytes(3, 200)]
    await opened({ path, maxBytes: 1_000 }).write(batch(events), going)
    expect([seqs(`${path}.2`), seqs(`${path}.1`), seqs(path)]).toEqual([[1], [2], [3]])
  })

  test('keeps no old files with keep: 0', async () => {
    const path = join(await folder(), 'audit.jsonl')
    await opened({ path, maxBytes: 250, keep: 0 }).write(
      batch(numbers(1, 3).map((seq) => eventOfBytes(seq, 200))),
      going,
    )
    expect(seqs(path)).toEqual([3])
    expect(readdirSync(join(path, '..'))).toEqual(['audit.jsonl'])
  })

  test('deletes no old file when an interrupted rotation is retried', async () => {
    const path = join(await folder(), 'audit.jsonl')
    // As after a crash between two renames: number 1 is free.
    for (const [name, seq] of [
      ['.3', 1],
      ['.2', 2],
      ['', 3],
    ] as const) {
      writeFileSync(`${path}${name}`, `${JSON.stringify(eventOfBytes(seq, 200))}\n`)
    }
    await opened({ path, maxBytes: 250, keep: 3 }).write(batch([eventOfBytes(4, 200)]), going)
    expect([seqs(`${path}.3`), seqs(`${path}.2`), seqs(`${path}.1`), seqs(path)]).toEqual([
      [1],
      [2],
      [3],
      [4],
    ])
  })

  test('fails when it cannot rename the file, and continues once it can', async () => {
    const path = join(await folder(), 'audit.jsonl')
    const sink = opened({ path, maxBytes: 250, keep: 1 })
    await sink.write(batch([eventOfBytes(1, 200)]), going)
    mkdirSync(`${path}.1`)
    const second = batch([eventOfBytes(2, 200)], 'key-2')
    expect(await thrownBy(() => sink.write(second, going))).toMatchObject({ code: 'sink_unwritable' })
    expect(seqs(path)).toEqual([1])
    rmSync(`${path}.1`, { recursive: true })
    await sink.write(second, going)
    expect([seqs(`${path}.1`), seqs(path)]).toEqual([[1], [2]])
  })

  test('renames the target of a symlink and keeps the link', async () => {
    const directory = await folder()
    const [path, target] = [join(directory, 'audit.jsonl'), join(directory, 'data', 'real.jsonl')]
    mkdirSync(join(directory, 'data'))
    await symlink(target, path)
    await opened({ path, maxBytes: 250 }).write(batch([eventOfBytes(1, 200), eventOfBytes(2, 200)]), going)
    expect([seqs(`${target}.1`), seqs(target), seqs(path)]).toEqual([[1], [2], [2]])
    expect(readdirSync(directory).sort()).toEqual(['audit.jsonl', 'data'])
  })

  test('keeps every event complete and in order after crashes at any byte', async () => {
    const root = await folder()
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 150, max: 2_000 }),
        fc.array(
          fc.record({
            sizes: fc.array(fc.integer({ min: 150, max: 900 }), { maxLength: 8 }),
            tear: fc.option(fc.double({ min: 0, max: 0.99, noNaN: true })),
          }),
          { maxLength: 8 },
        ),
        async (maxBytes, rounds) => {
          const directory = await mkdtemp(join(root, 'case-'))
          const path = join(directory, 'audit.jsonl')
          let sink = jsonlSink({ path, maxBytes, keep: 1_000 })
          let seq = 0
          for (const [round, { sizes, tear }] of rounds.entries()) {
            const events = sizes.map((bytes) => eventOfBytes(++seq, bytes))
            await sink.write(batch(events, `key-${round}`), going)
            if (tear === null) continue
            // A crash in the middle of writing the next event: part of its line is there, its cursor is not.
            await sink.close?.()
            const line = JSON.stringify(eventOfBytes(seq + 1, 300))
            writeFileSync(path, line.slice(0, Math.floor(line.length * tear)), { flag: 'a' })
            sink = jsonlSink({ path, maxBytes, keep: 1_000 })
          }
          await sink.write(batch([eventOfBytes(++seq, 200)], 'last'), going)
          await sink.close?.()
          const files = readdirSync(directory).map((name) => join(directory, name))
          const oldFirst = files.sort((a, b) => ageOf(b) - ageOf(a))
          expect(oldFirst.flatMap(seqs)).toEqual(numbers(1, seq))
          for (const file of oldFirst) {
            expect(statSync(file).size <= maxBytes || seqs(file).length === 1).toBe(true)
          }
        },
      ),
      { numRuns: scale.tornFiles },
    )
  })
})

function opened(options: JsonlSinkOptions): Sink {
  const sink = jsonlSink(options)
  onTestFinished(async () => sink.close?.())
  return sink
}

/** The `seq` of each line; throws if a line is incomplete. */
function seqs(path: string): number[] {
  const text = readFileSync(path, 'utf8')
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${path} ends in the middle of a line.`)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).seq)
}

function ageOf(path: string): number {
  return Number(/\.(\d+)$/.exec(path)?.[1] ?? 0)
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)]
    } catch {
      return []
    }
  })
}

async function withFileSizeLimit<T>(bytes: number, call: () => Promise<T>): Promise<T> {
  const limit = (size: string) => execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${size}:`])
  limit(String(bytes))
  try {
    return await call()
  } finally {
    limit('unlimited')
  }
}

function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Whether files can be made append-only here, so that even root cannot truncate them. */
function canForbidCutting(): boolean {
  const path = join(mkdtempSync(join(tmpdir(), 'vitrine-sinks-')), 'probe')
  try {
    writeFileSync(path, '')
    execFileSync('chattr', ['+a', path], { stdio: 'ignore' })
    execFileSync('chattr', ['-a', path], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    rmSync(dirname(path), { recursive: true, force: true })
  }
}

async function tinyDisk(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'vitrine-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path])
  onTestFinished(async () => {
    execFileSync('umount', ['--lazy', path])
    await rm(path, { recursive: true })
  })
  return path
}
