import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStore } from '@vitrine/journal'
import { describe, expect, it } from 'vitest'
import { until } from '../fixtures/until.ts'
import { eventsOf, holding, outputOf, together } from '../output/journals.ts'
import { type EntryFixture, entryFixture } from './entry-fixture.ts'

/** A script that fails until it was started this many times. */
const succeedsAt = (start: number) =>
  `echo x >> starts; echo "start $(wc -l < starts)"; test $(wc -l < starts) -ge ${start}`

async function lives({ journal }: EntryFixture): Promise<unknown[]> {
  const events = (await eventsOf(journal)).filter(({ type }) => type !== 'process.output')
  return events.map(({ type, data }) => [type, type === 'process.started' ? data.restarts : data.restarting])
}

describe('a process without restarts', () => {
  it('ends once, whether it succeeds or fails', async () => {
    const scene = await entryFixture()
    const entry = await scene.start('exit 3')
    expect(entry.info().state).toBe('running')
    expect(await entry.exit).toEqual({ outcome: 'failed', exitCode: 3, signal: null })
    expect(entry.info()).toMatchObject({ state: 'exited', restarts: 0, exit: { exitCode: 3 } })
    expect(await lives(scene)).toEqual([
      ['process.started', undefined],
      ['process.exited', undefined],
    ])
  })
})

describe('a process that is restarted on failure', () => {
  it('keeps its id through all restarts until it succeeds', async () => {
    const scene = await entryFixture()
    const seen: string[] = []
    const entry = await scene.start(succeedsAt(3), {
      restart: 'on-failure',
      onOutput: (_, bytes) => void seen.push(bytes.toString()),
    })
    expect(await entry.exit).toMatchObject({ outcome: 'ok' })
    expect(entry.info()).toMatchObject({ id: 'prc_1', state: 'exited', restarts: 2 })
    expect(await lives(scene)).toEqual([
      ['process.started', undefined],
      ['process.exited', true],
      ['process.started', 1],
      ['process.exited', true],
      ['process.started', 2],
      ['process.exited', undefined],
    ])
    expect(seen.join('')).toBe('start 1\nstart 2\nstart 3\n')
    expect(together(await outputOf(scene.journal))).toBe('start 1\nstart 2\nstart 3\n')
  })

  it('shows a viewer the output of all its restarts', async () => {
    const scene = await entryFixture()
    const entry = await scene.start(succeedsAt(2), { restart: 'on-failure' })
    let shown = ''
    for await (const { data } of entry.viewers.view()) shown += Buffer.from(data).toString()
    expect(shown).toBe('start 1\nstart 2\n')
  })

  it('is not restarted after a stop', async () => {
    const scene = await entryFixture()
    const entry = await scene.start('exec sleep 60', { restart: 'always' })
    expect(await entry.stop(5_000)).toEqual({ outcome: 'cancelled', exitCode: null, signal: 'SIGTERM' })
    expect(entry.info()).toMatchObject({ state: 'exited', restarts: 0 })
    expect(entry.endedBeforeRestart).toBe(false)
  })

  it('can be cancelled while it waits for a restart, without a further exit event', async () => {
    const scene = await entryFixture()
    const entry = await scene.start('exit 1', { restart: 'always' })
    await until(() => entry.info().state === 'waiting')
    expect(await entry.kill('cancelled')).toMatchObject({ outcome: 'failed', exitCode: 1 })
    expect(entry.info()).toMatchObject({ state: 'exited', restarts: 0 })
    expect(entry.endedBeforeRestart).toBe(true)
  })

  it('logs a failed restart and tries again until it is cancelled', async () => {
    const scene = await entryFixture()
    const entry = await scene.start('exit 1', { restart: 'on-failure' })
    await until(() => entry.info().state === 'waiting')
    rmSync(scene.root, { recursive: true })
    await until(() => entry.info().restarts >= 2)
    expect(entry.info().state).toBe('waiting')
    const { events } = await scene.journal.read({ types: ['log.message'] })
    expect(events[0]).toMatchObject({ data: { level: 'warn', process: entry.id } })
    expect(await entry.kill('cancelled')).toMatchObject({ outcome: 'failed', exitCode: 1 })
    expect(entry.endedBeforeRestart).toBe(true)
  })

  it('ends when it is cancelled during a restart', async () => {
    const scene = await entryFixture()
    const starting = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const entry = await scene.start(
      'test -e again || { touch again; exit 1; }; touch running; exec sleep 60',
      {
        restart: 'always',
      },
    )
    scene.beforeLaunch = () => {
      starting.resolve()
      return go.promise
    }
    await starting.promise
    const killed = entry.kill('cancelled')
    go.resolve()
    expect(await Promise.race([killed, untilRunning(scene)])).toMatchObject({ outcome: 'cancelled' })
  })

  it('ends its followers when it is cancelled while its exit event is being written', async () => {
    const driver = holding(memoryStore())
    const scene = await entryFixture(driver)
    const entry = await scene.start('read line; exit 1', { restart: 'always' })
    const release = driver.pause()
    entry.current.stdin?.end('\n')
    await until(() => entry.current.ended)
    const killed = entry.kill('cancelled')
    release()
    await killed
    expect(entry.info().restarts).toBe(0)
    // The exit event announces a restart; followers must still end.
    expect(entry.endedBeforeRestart).toBe(true)
  })
})

/** Resolves one second after the process has started to run: it was not killed. */
async function untilRunning({ root }: EntryFixture): Promise<string> {
  await until(() => existsSync(join(root, 'running')))
  await new Promise((resume) => setTimeout(resume, 1_000))
  return 'it runs'
}

describe('a process whose exit event cannot be written', () => {
  it('counts as exited and ends its viewers', async () => {
    const scene = await entryFixture()
    const entry = await scene.start('read line')
    const watching = entry.viewers.view().next()
    await scene.closeStore()
    entry.current.stdin?.end('\n')
    await expect(entry.exit).rejects.toMatchObject({ code: 'store_closed' })
    expect(entry.exited).toBe(true)
    expect((await watching).done).toBe(true)
  })
})
