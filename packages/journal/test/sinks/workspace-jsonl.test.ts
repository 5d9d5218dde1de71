import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { newId, VitrineError } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PrivateWriter, workspaceJsonlSink } from '../../src/sinks/workspace-jsonl.ts'
import { thrownBy } from '../fixtures/until.ts'
import { batch, event, gap, going, numbers } from './events.ts'
import { folder } from './folder.ts'

describe('workspaceJsonlSink', () => {
  test('never mixes two sandboxes, and keeps the order in each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fc.constantFrom('a', 'b', 'c', undefined))), async (batches) => {
        const { writer, written } = memory()
        const sink = workspaceJsonlSink({ writer })
        let seq = 0
        const events = batches.map((owners) => owners.map((owner) => ownedEvent(++seq, owner)))
        for (const [index, group] of events.entries()) await sink.write(batch(group, `key-${index}`), going)
        for (const sandbox of ['a', 'b', 'c']) {
          const own = events.flat().filter((one) => one.sandbox === sandbox)
          expect(written.get(`${sandbox}:logs/events-${sandbox}.jsonl`) ?? '').toBe(
            own.map((one) => `${JSON.stringify(one)}\n`).join(''),
          )
        }
      }),
    )
  })

  test('writes to a file of each workspace', async () => {
    const { writer, read } = await directories()
    const sink = workspaceJsonlSink({ writer })
    await sink.write(batch([ownedEvent(1, 'a'), ownedEvent(2, 'b'), ownedEvent(3, 'a')], 'key-1'), going)
    await sink.write(batch([ownedEvent(4, 'a')], 'key-2'), going)
    expect([await read('a', 'logs/events-a.jsonl'), await read('b', 'logs/events-b.jsonl')]).toEqual([
      [1, 3, 4],
      [2],
    ])
  })

  test('skips events without a sandbox and does not call the writer for them', async () => {
    const { writer, written } = memory()
    await workspaceJsonlSink({ writer }).write(batch([event(1), gap('host')]), going)
    expect(written.size).toBe(0)
  })

  test("writes a gap of a sandbox's journal into its file", async () => {
    const { writer, written } = memory()
    const sandbox = newId('sandbox')
    await workspaceJsonlSink({ writer, path: 'log' }).write(batch([gap(sandbox)]), going)
    expect(written.get(`${sandbox}:log`)).toBe(`${JSON.stringify(gap(sandbox))}\n`)
  })

  test('makes one append per sandbox and batch', async () => {
    const { writer, appends } = memory()
    const events = numbers(1, 100).map((seq) => ownedEvent(seq, seq % 2 === 0 ? 'a' : 'b'))
    await workspaceJsonlSink({ writer }).write(batch(events), going)
    expect(appends).toEqual(['b', 'a'])
  })

  test('escapes an id that would lead out of the workspace', async () => {
    const { writer, written } = memory()
    const sink = workspaceJsonlSink({ writer, path: '{sandbox}/{sandbox}.log' })
    await sink.write(batch([ownedEvent(1, '..'), ownedEvent(2, '../../etc/x$&')]), going)
    expect([...written.keys()]).toEqual(['..:__/__.log', '../../etc/x$&:______etc_x__/______etc_x__.log'])
  })

  test.for([
    '/var/log/x',
    '\\x',
    'C:x',
    '../x',
    'a/../x',
    'a\\..\\x',
    '{session}.log',
    'a{',
    '',
    'a/',
    'a/.',
    'a\0',
    'a*',
    'a?',
    './a',
    'a//b',
  ])('rejects the path %o', (path) => {
    const { writer } = memory()
    expect(() => workspaceJsonlSink({ writer, path })).toThrow(
      expect.objectContaining({ code: 'argument_invalid' }),
    )
  })
})

describe('a sandbox that cannot be written', () => {
  test('fails the batch after all others were written, which get nothing twice', async () => {
    const { writer, written, broken } = memory()
    const sink = workspaceJsonlSink({ writer, path: 'log' })
    const events = [ownedEvent(1, 'a'), ownedEvent(2, 'b'), ownedEvent(3, 'c'), ownedEvent(4, 'b')]
    broken.set('b', new Error('paused'))
    for (let tries = 0; tries < 3; tries += 1) {
      const error = await thrownBy(() => sink.write(batch(events), going))
      expect(error).toMatchObject({
        code: 'sink_unwritable',
        message: 'Expected to append to the workspace of b, got: paused',
        details: { sandboxes: ['b'] },
        cause: broken.get('b'),
      })
    }
    broken.clear()
    await sink.write(batch(events), going)
    expect([...written].map(([file, lines]) => [file, seqs(lines)])).toEqual([
      ['a:log', [1]],
      ['c:log', [3]],
      ['b:log', [2, 4]],
    ])
  })

  test('is named together with the other failing sandboxes', async () => {
    const { writer, broken } = memory()
    broken.set('a', new Error('paused')).set('b', new Error('full'))
    const events = [ownedEvent(1, 'a'), ownedEvent(2, 'b')]
    const error = await thrownBy(() => workspaceJsonlSink({ writer }).write(batch(events), going))
    expect(error).toMatchObject({
      message: 'Expected to append to the workspace of a and 1 more, got: paused',
      details: { sandboxes: ['a', 'b'] },
      cause: { errors: [broken.get('a'), broken.get('b')] },
    })
  })

  test('loses its lines, which are counted, when it was deleted, without delaying others', async () => {
    const { writer, written, broken } = memory()
    broken.set('a', new VitrineError('not_found', 'No sandbox a.')).set('c', new Error('paused'))
    const sink = workspaceJsonlSink({ writer, path: 'log' })
    const events = [ownedEvent(1, 'a'), ownedEvent(2, 'b'), ownedEvent(3, 'a'), ownedEvent(4, 'c')]
    await thrownBy(() => sink.write(batch(events), going))
    broken.delete('c')
    await sink.write(batch(events), going)
    expect(sink.dropped).toBe(2)
    expect([...written.keys()]).toEqual(['b:log', 'c:log'])
  })
})

test.for(['file_not_regular', 'disk_limit'] as const)(
  'a sandbox whose workspace is obstructed (%s) loses its lines, which are counted and reported',
  async (code) => {
    const { writer, written, broken } = memory()
    const sink = workspaceJsonlSink({ writer, path: 'log' })
    const error = new VitrineError(code, 'In the way.')
    broken.set('a', error)
    const reported: unknown[] = []
    const onObserverError = (...report: unknown[]) => void reported.push(report)
    await sink.write(batch([ownedEvent(1, 'a'), ownedEvent(2, 'b')]), { ...going, onObserverError })
    expect(sink.dropped).toBe(1)
    expect(reported).toEqual([['workspaceJsonlSink', error]])
    expect([...written.keys()]).toEqual(['b:log'])
  },
)

test('a sink without a writer fails and says where it gets one', async () => {
  const sink = workspaceJsonlSink({ path: 'log' })
  await expect(sink.write(batch([ownedEvent(1, 'a')]), going)).rejects.toMatchObject({
    code: 'sink_unwritable',
    message: expect.stringContaining('`openHost`'),
  })
  const { writer, written } = memory()
  sink.writeWith(writer)
  await sink.write(batch([ownedEvent(1, 'a')]), going)
  expect([...written.keys()]).toEqual(['a:log'])
})

test.for([[['a']], [['a', 'b']]] as const)(
  'workspaceJsonlSink passes its signal to the writer and stops with it before %o are all done',
  async ([sandboxes]) => {
    const stop = new AbortController()
    const signals: AbortSignal[] = []
    const writer: PrivateWriter = {
      async append(_target, _lines, { signal }) {
        signals.push(signal)
        stop.abort(new Error('closing'))
        signal.throwIfAborted()
      },
    }
    const events = sandboxes.map((sandbox, index) => ownedEvent(index + 1, sandbox))
    const write = workspaceJsonlSink({ writer }).write(batch(events), { signal: stop.signal })
    await expect(write).rejects.toThrow(/^closing$/)
    expect(signals).toEqual([stop.signal])
  },
)

function ownedEvent(seq: number, sandbox: string | undefined) {
  return event(seq, sandbox === undefined ? {} : { sandbox })
}

function seqs(lines: string): number[] {
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).seq)
}

/** Workspaces in memory; `broken` holds the error of each one that fails. */
function memory() {
  const written = new Map<string, string>()
  const appends: string[] = []
  const broken = new Map<string, Error>()
  const writer: PrivateWriter = {
    async append({ sandbox, path }, lines) {
      const error = broken.get(sandbox)
      if (error) throw error
      const file = `${sandbox}:${path}`
      appends.push(sandbox)
      written.set(file, (written.get(file) ?? '') + lines)
    },
  }
  return { writer, written, appends, broken }
}

/** Workspaces as directories. */
async function directories() {
  const root = await folder()
  const writer: PrivateWriter = {
    async append({ sandbox, path }, lines) {
      const file = join(root, sandbox, path)
      await mkdir(dirname(file), { recursive: true })
      await appendFile(file, lines)
    },
  }
  const read = async (sandbox: string, path: string) =>
    seqs(await readFile(join(root, sandbox, path), 'utf8'))
  return { writer, read }
}
