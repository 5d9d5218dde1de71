import { setTimeout as sleep } from 'node:timers/promises'
import type { LogChunk } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { numbers } from '../events/coverage.ts'
import { background } from '../waiting/background.ts'
import { withTimeLimit } from '../waiting/within.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'
import { watch } from './screen.ts'

export function logCases(make: MakeSandbox): void {
  describe('logs', () => {
    const shared = sharedSandbox(make)

    it('logs contain all output, by stream and offset', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo one; echo error >&2; sleep 0.1; echo two')
      await process.exit
      const chunks = await sandbox.processes.logs(process.id)
      expect(textOf(chunks.filter(({ stream }) => stream === 'stdout'))).toBe('one\ntwo\n')
      expect(textOf(chunks.filter(({ stream }) => stream === 'stderr'))).toBe('error\n')
      let at = 0
      for (const { stream, offset, data } of chunks) {
        if (stream !== 'stdout') continue
        expect(offset).toBe(at)
        at += data.length
      }
    })

    it('logs return only the last lines with `tail`', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn(
        'for i in 1 2 3 4 5 6; do echo line $i; sleep 0.02; done; printf unfinished',
      )
      await process.exit
      const last = async (tail: number) => textOf(await sandbox.processes.logs(process.id, { tail }))
      expect(await last(0)).toBe('')
      expect(await last(1)).toBe('unfinished')
      expect(await last(3)).toBe('line 5\nline 6\nunfinished')
      expect(await last(100)).toBe(
        `${numbers(1, 6)
          .map((one) => `line ${one}\n`)
          .join('')}unfinished`,
      )
    })

    it('logs return the last lines of a long log', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('seq 1 100000')
      await process.exit
      const text = textOf(await sandbox.processes.logs(process.id, { tail: 50_000 }))
      expect(
        text ===
          numbers(50_001, 100_000)
            .map((one) => `${one}\n`)
            .join(''),
      ).toBe(true)
    })

    it('logs return only the output since a time or a cursor', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const process = await sandbox.spawn('echo early; while [ ! -e go ]; do sleep 0.02; done; echo late')
      await watch(process).shows('early')
      await sleep(20)
      const { cursor } = await journal.read({ order: 'asc', limit: 10_000 })
      const time = new Date().toISOString()
      await sleep(5)
      await sandbox.exec('touch go')
      await process.exit
      expect(textOf(await sandbox.processes.logs(process.id, { since: time }))).toBe('late\n')
      expect(textOf(await sandbox.processes.logs(process.id, { since: cursor }))).toBe('late\n')
      const followed = await all(sandbox.processes.follow(process.id, { since: cursor }))
      expect(textOf(followed)).toBe('late\n')
    })

    it('a follower gets the output as it comes, to the end', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo one; cat; echo end')
      const follow = sandbox.processes.follow(process.id)
      expect(textOf([await next(follow)])).toBe('one\n')
      await process.input('two\n')
      expect(textOf([await next(follow)])).toBe('two\n')
      await process.end()
      expect(textOf(await all(follow))).toBe('end\n')
    })

    it('a follower that starts at the last lines misses and repeats none', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn(
        'i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done; cat; echo end',
      )
      await watch(process).shows('1000\n')
      const follow = background(all(sandbox.processes.follow(process.id, { tail: 10 })))
      await sleep(30)
      await process.end()
      const lines = textOf(await follow)
        .trimEnd()
        .split('\n')
      expect(lines.at(-1)).toBe('end')
      const first = Number(lines[0])
      expect(lines.slice(0, -1)).toEqual(numbers(first, 1_999).map(String))
    })

    it('the log of a finished process can still be followed, and ends', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo all; echo there')
      await process.exit
      expect(textOf(await all(sandbox.processes.follow(process.id)))).toBe('all\nthere\n')
      expect(textOf(await all(sandbox.processes.follow(process.id, { tail: 1 })))).toBe('there\n')
      await sandbox.processes.remove(process.id)
      expect(textOf(await all(sandbox.processes.follow(process.id)))).toBe('all\nthere\n')
    })

    it('a follower ends when its signal is aborted, and the process continues', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo one; sleep 1000')
      const caller = new AbortController()
      const follow = sandbox.processes.follow(process.id, { signal: caller.signal })
      await next(follow)
      const rest = background(all(follow))
      caller.abort()
      await withTimeLimit(
        'the end of the follow',
        rest.catch(() => undefined),
      )
      expect((await sandbox.processes.get(process.id)).state).toBe('running')
    })

    it('a follower gets 200,000 lines complete and in order', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('seq 1 200000')
      const text = textOf(await all(sandbox.processes.follow(process.id)))
      expect(
        text ===
          numbers(1, 200_000)
            .map((one) => `${one}\n`)
            .join(''),
      ).toBe(true)
    })
  })
}

export function textOf(chunks: readonly Pick<LogChunk, 'data'>[]): string {
  return Buffer.concat(chunks.map(({ data }) => data)).toString()
}

export async function all(follow: AsyncIterableIterator<LogChunk>): Promise<LogChunk[]> {
  const chunks: LogChunk[] = []
  const run = async () => {
    for await (const chunk of follow) chunks.push(chunk)
  }
  await withTimeLimit('the end of the log', run())
  return chunks
}

async function next(follow: AsyncIterableIterator<LogChunk>): Promise<LogChunk> {
  const { value, done } = await withTimeLimit('a chunk of the log', follow.next())
  if (done) throw new Error('The log has ended.')
  return value
}
