import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { workspaceJsonlSink } from '@vitrine/journal'
import type { JournalEvent } from '@vitrine/protocol'
import { type LocalOptions, local } from '@vitrine/sandbox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox, type HostSandbox } from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'
import { allEvents } from './sessions/fixture.ts'

const quiet = { isolation: 'none', watch: { mode: 'native' } } as const

const logging = () => {
  const sink = workspaceJsonlSink()
  return { sink, sinks: [{ name: 'workspace', sink }] }
}

function readLog({ root, id }: Pick<HostSandbox, 'root' | 'id'>): JournalEvent[] {
  const lines = readFileSync(join(root, `logs/events-${id}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}

const seqsOf = (events: readonly JournalEvent[]) => events.map(({ seq }) => seq)

describe('the log in the workspace of a sandbox', () => {
  it.each<[string, LocalOptions]>([
    ['without isolation', quiet],
    ['under bubblewrap', { isolation: 'bubblewrap' }],
    ['with a polling watcher', { isolation: 'none', watch: { mode: 'poll', intervalMs: 20 } }],
    ['with a watcher that runs find', { isolation: 'none', watch: { mode: 'find', intervalMs: 50 } }],
  ])('has every event of it, and causes none (%s)', async (_name, options) => {
    const host = await open(dataFolder(), { providers: [local(options)], sinks: logging().sinks })
    const sandbox = await host.create({ id: 'one' })
    await sandbox.exec('echo hello > seen.txt')
    await host.store.flush()
    await sandbox.files.flush()
    await host.store.flush()
    const before = await allEvents(sandbox.journal)
    await sandbox.files.flush()
    await host.store.flush()
    const events = await allEvents(sandbox.journal)
    // Flushing is an operation; the log itself adds nothing.
    expect(events.slice(before.length).map(({ data }) => data.op)).toEqual(['flush', 'flush'])
    const files = events.filter(({ type }) => type.startsWith('file.'))
    expect(new Set(files.map(({ data }) => data.path))).toEqual(new Set(['seen.txt']))
    expect(seqsOf(readLog(sandbox))).toEqual(seqsOf(events))
  })

  it('can be read by programs inside', async () => {
    const provider = local({ isolation: 'bubblewrap' })
    const { sinks } = logging()
    await using sandbox = await createSandbox({ id: 'one', provider, sinks })
    await expect
      .poll(async () => (await sandbox.exec('cat logs/events-one.jsonl')).stdout, { timeout: 20_000 })
      .toContain('"sandbox.ready"')
  })

  it('gets the events of the stop, and starts no sandbox for them', async () => {
    const data = dataFolder()
    const host = await open(data, { providers: [local(quiet)], sinks: logging().sinks })
    const sandbox = await host.create({ id: 'one' })
    await sandbox.lifecycle.stop()
    await host.store.flush()
    expect(readLog(sandbox).map(({ type }) => type)).toContain('sandbox.stopped')
    expect(host.info('one')?.state).toBe('stopped')
  })

  it('is continued by the next host, with the events that it has missed', async () => {
    const data = dataFolder()
    const first = await open(data, { providers: [local(quiet)] })
    const { root } = await first.create({ id: 'one' })
    await first.close()
    const next = await open(data, { providers: [local(quiet)], sinks: logging().sinks })
    await next.store.flush()
    const events = await allEvents((await next.look('one')).journal)
    expect(seqsOf(readLog({ root, id: 'one' }))).toEqual(seqsOf(events))
    expect(next.info('one')?.state).toBe('stopped')
  })

  it('does not disturb the preparation of a new workspace, which must be empty', async () => {
    const { sinks } = logging()
    const provider = local(quiet)
    const workspace = { setup: ['ls -A | wc -l > entries.txt; sleep 0.2'] }
    await using sandbox = await createSandbox({ id: 'one', provider, workspace, sinks })
    const { stdout } = await sandbox.exec('cat entries.txt')
    expect(Number(stdout)).toBeLessThanOrEqual(1)
  })

  it('is in a workspace that the caller gave after its sandbox was closed', async () => {
    const root = mkdtempSync('/var/tmp/vitrine-given-')
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const { sinks } = logging()
    const sandbox = await createSandbox({ id: 'one', provider: local({ ...quiet, root }), sinks })
    await sandbox.close()
    expect(readLog({ root, id: 'one' }).map(({ type }) => type)).toContain('sandbox.stopped')
  })
})

describe('a program that puts something in the way of the log', () => {
  it.each<[string, (root: string, outside: string) => void]>([
    ['a link to a directory outside', (root, outside) => symlinkSync(outside, join(root, 'logs'))],
    ['a link to another directory', (root) => symlinkSync('.', join(root, 'logs'))],
    ['a directory', (root) => mkdirSync(join(root, 'logs/events-one.jsonl'), { recursive: true })],
    [
      'a second name of the file',
      (root) => {
        renameSync(join(root, 'backup'), join(root, 'logs'))
        linkSync(join(root, 'logs/events-one.jsonl'), join(root, 'other.jsonl'))
      },
    ],
  ])('loses its own lines, harms no other sandbox and causes no loop: %s', async (_name, obstruct) => {
    const outside = dataFolder()
    const { sink, sinks } = logging()
    const host = await open(dataFolder(), {
      providers: [local({ isolation: 'none', watch: { mode: 'poll', intervalMs: 20 } })],
      sinks,
    })
    const sandbox = await host.create({ id: 'one' })
    await host.store.flush()
    renameSync(join(sandbox.root, 'logs'), join(sandbox.root, 'backup'))
    obstruct(sandbox.root, outside)
    const other = await host.create({ id: 'two' })
    await sandbox.exec('true')
    await host.store.flush()
    expect(sink.dropped).toBeGreaterThan(0)
    expect(existsSync(join(outside, 'events-one.jsonl'))).toBe(false)
    expect(readLog(other).map(({ type }) => type)).toContain('sandbox.ready')
    await sandbox.files.flush()
    await host.store.flush()
    const before = await allEvents(sandbox.journal)
    await sandbox.files.flush()
    expect((await allEvents(sandbox.journal)).length - before.length).toBe(2)
  })
})
