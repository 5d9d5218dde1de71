import type { Journal } from '@vitrine/journal'
import type { LogChunk } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { followLogs, readLogs } from '../../src/processes/logs.ts'
import { openJournal } from '../output/journals.ts'

/** Writes one event per chunk and returns all output of the process. */
async function write(journal: Journal, chunks: readonly string[], process = 'prc_1'): Promise<string> {
  let offset = 0
  const events = chunks.map((text) => {
    const data = { process, stream: 'stdout' as const, offset, data: text, encoding: 'utf8' as const }
    offset += Buffer.byteLength(text)
    return { type: 'process.output', data }
  })
  if (events.length > 0) await journal.append(events)
  return chunks.join('')
}

async function started(journal: Journal, process = 'prc_1'): Promise<void> {
  await journal.append([{ type: 'process.started', data: { process } }])
}

async function exited(journal: Journal, more: object = {}, process = 'prc_1'): Promise<void> {
  const data = { process, outcome: 'ok', exitCode: 0, signal: null, ...more }
  await journal.append([{ type: 'process.exited', data }])
}

const textOf = (chunks: readonly LogChunk[]) => Buffer.concat(chunks.map(({ data }) => data)).toString()

function lastLines(whole: string, count: number): string {
  return count === 0 ? '' : (whole.match(/[^\n]*\n|[^\n]+$/g) ?? []).slice(-count).join('')
}

describe('the last lines', () => {
  it.each([
    ['end with a line break', ['a\nb\nc\n'], 2, 'b\nc\n'],
    ['end without a line break', ['a\nb\nc'], 2, 'b\nc'],
    ['span chunks', ['a\nb', 'b\nc', 'c\n'], 2, 'bb\ncc\n'],
    ['start where a chunk starts', ['a\n', 'b\n', 'c\n'], 2, 'b\nc\n'],
    ['have their line breaks in separate chunks', ['a', '\n', 'b', '\n', 'c', '\n'], 2, 'b\nc\n'],
    ['end with carriage returns', ['a\r\nb\r\nc\r\n'], 2, 'b\r\nc\r\n'],
    ['are empty', ['\n\n\n'], 2, '\n\n'],
    ['are fewer than requested', ['a\n', 'b'], 5, 'a\nb'],
    ['are not requested', ['a\nb\n'], 0, ''],
    ['are none', [], 3, ''],
    ['come from an empty chunk', [''], 1, ''],
  ])('returns the last lines when they %s', async (_name, chunks, tail, expected) => {
    const { journal } = await openJournal()
    await write(journal, chunks)
    expect(textOf(await readLogs(journal, 'prc_1', { tail }))).toBe(expected)
  })

  it('returns the last lines of any chunks, each with its offset', async () => {
    const chunk = fc
      .array(fc.constantFrom('a', 'ä', '\n', '\r\n'), { maxLength: 6 })
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), fc.nat({ max: 6 }), async (chunks, tail) => {
        const { journal } = await openJournal()
        const whole = await write(journal, chunks)
        const found = await readLogs(journal, 'prc_1', { tail })
        expect(textOf(found)).toBe(lastLines(whole, tail))
        for (const { offset, data } of found)
          expect(Buffer.from(whole).subarray(offset, offset + data.length)).toEqual(Buffer.from(data))
      }),
      { numRuns: 60 },
    )
  })

  it('finds the last lines beyond one page of output, and only those of the process', async () => {
    const { journal } = await openJournal()
    const lines = Array.from({ length: 2_500 }, (_, index) => `line ${index}\n`)
    await write(journal, lines)
    await write(journal, ['prc_1 is mentioned\n'], 'prc_10')
    expect(textOf(await readLogs(journal, 'prc_1', { tail: 2_100 }))).toBe(lines.slice(-2_100).join(''))
    expect(textOf(await readLogs(journal, 'prc_1', {}))).toBe(lines.join(''))
  })

  it('returns the lines after a cursor or a time', async () => {
    const { journal } = await openJournal()
    await write(journal, ['old\n'])
    const since = journal.cursor(journal.head)
    await write(journal, ['new\n', 'newer\n'])
    expect(textOf(await readLogs(journal, 'prc_1', { since }))).toBe('new\nnewer\n')
    expect(textOf(await readLogs(journal, 'prc_1', { since, tail: 1 }))).toBe('newer\n')
    expect(textOf(await readLogs(journal, 'prc_1', { since, tail: 9 }))).toBe('new\nnewer\n')
    const ago = new Date(Date.now() - 3_600_000).toISOString()
    expect(textOf(await readLogs(journal, 'prc_1', { since: ago }))).toBe('old\nnew\nnewer\n')
  })
})

describe('following output', () => {
  async function followed(journal: Journal, options: object = {}): Promise<string> {
    const found: LogChunk[] = []
    for await (const chunk of followLogs(journal, 'prc_1', options)) found.push(chunk)
    return textOf(found)
  }

  it('follows output until the process ends without a restart', async () => {
    const { journal } = await openJournal()
    await started(journal)
    await write(journal, ['one '])
    const following = followed(journal)
    await exited(journal, { outcome: 'failed', exitCode: 1, restarting: true })
    await started(journal, 'prc_2')
    await write(journal, ['other'], 'prc_2')
    await exited(journal, {}, 'prc_2')
    await started(journal)
    await write(journal, ['two'])
    await exited(journal)
    await write(journal, ['nobody looks'])
    expect(await following).toBe('one two')
  })

  it('starts with the requested number of lines and repeats no output', async () => {
    const { journal } = await openJournal()
    await started(journal)
    await write(journal, ['a\n', 'b\n', 'c\n'])
    const following = followed(journal, { tail: 1 })
    await write(journal, ['d\n'])
    await exited(journal)
    expect(await following).toBe('c\nd\n')
  })

  it('returns all output of a process that has ended', async () => {
    const { journal } = await openJournal()
    await started(journal)
    await write(journal, ['a\n', 'b\n'])
    await exited(journal)
    expect(await followed(journal)).toBe('a\nb\n')
  })

  it('starts with the last lines of a process that has ended, and then ends', async () => {
    const { journal } = await openJournal()
    await started(journal)
    await write(journal, ['a\n', 'b\n'])
    await exited(journal)
    expect(await followed(journal, { tail: 1 })).toBe('b\n')
  }, 10_000)
})
