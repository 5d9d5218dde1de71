import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { background } from '../waiting/background.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { allEvents, exitsOf, processEvents, typesOf } from './events.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'
import { all, textOf } from './logs.ts'
import { watch } from './screen.ts'

/** A command that fails until its nth run. */
const failsUntil = (runs: number) => `echo run >> runs; [ $(wc -l < runs) -ge ${runs} ] || exit 9`

export function restartCases(make: MakeSandbox): void {
  describe('restarts', () => {
    const shared = sharedSandbox(make)

    it('a failed process is not restarted by default', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn(failsUntil(2))
      expect(await process.exit).toMatchObject({ exitCode: 9 })
      await sleep(400)
      expect((await sandbox.exec('wc -l < runs')).stdout.trim()).toBe('1')
      expect(await sandbox.processes.get(process.id)).toMatchObject({ state: 'exited', restarts: 0 })
    })

    it('a process with restart on-failure is restarted until it succeeds, and restarts are counted', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const process = await sandbox.spawn(failsUntil(3), { restart: 'on-failure' })
      expect(await process.exit).toEqual({ outcome: 'ok', exitCode: 0, signal: null })
      expect(await sandbox.processes.get(process.id)).toMatchObject({ state: 'exited', restarts: 2 })
      const events = processEvents(await allEvents(journal), process.id)
      expect(typesOf(events).filter((type) => type !== 'process.output')).toEqual([
        'process.started',
        'process.exited',
        'process.started',
        'process.exited',
        'process.started',
        'process.exited',
      ])
      expect(exitsOf(events, process.id).map(({ data }) => data.exitCode)).toEqual([9, 9, 0])
    })

    it('a process with restart on-failure is restarted after a death by a signal', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo run >> runs; [ $(wc -l < runs) -ge 2 ] || kill -9 $$', {
        restart: 'on-failure',
      })
      expect(await process.exit).toMatchObject({ outcome: 'ok' })
      expect(await sandbox.processes.get(process.id)).toMatchObject({ restarts: 1 })
    })

    it('a process with restart always is restarted after success, until it is stopped', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo run >> runs', { restart: 'always' })
      await eventually('two restarts', async () => (await sandbox.processes.get(process.id)).restarts >= 2)
      await process.stop()
      expect((await sandbox.processes.get(process.id)).state).toBe('exited')
      const runs = (await sandbox.exec('wc -l < runs')).stdout
      await sleep(600)
      expect((await sandbox.exec('wc -l < runs')).stdout).toBe(runs)
    })

    it('a process that waits for its restart has the state waiting, which a stop ends', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo run >> runs; exit 9', { restart: 'on-failure' })
      const followed = background(all(sandbox.processes.follow(process.id)))
      await eventually(
        'it to wait',
        async () => (await sandbox.processes.get(process.id)).state === 'waiting',
      )
      expect(await withTimeLimit('the stop', process.stop())).toMatchObject({
        outcome: 'failed',
        exitCode: 9,
      })
      expect(await process.exit).toMatchObject({ exitCode: 9 })
      expect(await sandbox.processes.get(process.id)).toMatchObject({
        state: 'exited',
        exit: { exitCode: 9 },
      })
      await withTimeLimit('the end of its follower', followed)
      for (const options of [{}, { tail: 5 }])
        expect(textOf(await all(sandbox.processes.follow(process.id, options)))).toBe('')
      const runs = (await sandbox.exec('wc -l < runs')).stdout
      await sleep(600)
      expect((await sandbox.exec('wc -l < runs')).stdout).toBe(runs)
    })

    it('the log of a process stopped before its restart can be followed to its end, also after its removal', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo once; exit 9', { restart: 'on-failure' })
      await eventually(
        'it to wait',
        async () => (await sandbox.processes.get(process.id)).state === 'waiting',
      )
      await process.stop()
      await sandbox.processes.remove(process.id)
      const chunks = await withTimeLimit(
        'the end of the log',
        all(sandbox.processes.follow(process.id)),
        3_000,
      )
      expect(textOf(chunks)).toBe('once\n')
    })

    it('viewers, followers and handles stay valid over restarts', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn(`echo start; ${failsUntil(3)}; cat`, { restart: 'on-failure' })
      const screen = watch(process)
      const followed = background(all(sandbox.processes.follow(process.id)))
      for (const _run of [1, 2, 3]) await screen.shows('start')
      await process.input('still here\n')
      await screen.shows('still here')
      await process.end()
      expect(await process.exit).toMatchObject({ outcome: 'ok' })
      expect(textOf(await followed)).toBe('start\nstart\nstart\nstill here\n')
    })

    it('a pending restart does not survive a shutdown', async () => {
      const { sandbox } = await newSandbox(make)
      const process = await sandbox.spawn('echo run >> runs; exit 9', { restart: 'always' })
      await eventually(
        'it to wait',
        async () => (await sandbox.processes.get(process.id)).state === 'waiting',
      )
      await sandbox.lifecycle.shutdown()
      expect(await withTimeLimit('its end', process.exit)).toMatchObject({ exitCode: 9 })
      await sandbox.lifecycle.start()
      const runs = (await sandbox.exec('wc -l < runs')).stdout
      await sleep(600)
      expect((await sandbox.exec('wc -l < runs')).stdout).toBe(runs)
    })
  })
}
