import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { counting } from './commands.ts'
import { allEvents, typesOf } from './events.ts'
import { StopHooks } from './hooks.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions, type TestedSandbox } from './kit.ts'
import { newMark, waitForMarked } from './marks.ts'

export function lifecycleCases(make: MakeSandbox, options: SandboxKitOptions): void {
  describe('lifecycle', () => {
    it('a sandbox runs after its creation, and reports whether it runs', async () => {
      const { sandbox } = await newSandbox(make)
      expect(await sandbox.lifecycle.running()).toBe(true)
      await sandbox.lifecycle.start()
      expect(await sandbox.lifecycle.running()).toBe(true)
      await sandbox.lifecycle.shutdown()
      expect(await sandbox.lifecycle.running()).toBe(false)
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      expect(await sandbox.lifecycle.running()).toBe(true)
    })

    it('a shutdown ends every process, also those that left their session', async () => {
      const under = await newSandbox(make)
      const { sandbox, count } = under
      const mark = newMark()
      const launchers = [
        'setsid sh -c LOOP &',
        'nohup sh -c LOOP > /dev/null 2>&1 &',
        '(setsid sh -c LOOP &) &',
        'env -i /bin/setsid /bin/sh -c LOOP > /dev/null 2>&1 < /dev/null &',
        'trap "" TERM HUP INT; sh -c LOOP &',
      ]
      for (const [index, launcher] of launchers.entries())
        await sandbox.exec(
          `L="while echo x >> ${sandbox.root}/beat${index}; do sleep 0.02; : ${mark}; done"; ${launcher.replace('LOOP', '"$L"')}`,
        )
      await sandbox.exec('while [ $(ls | grep -c beat) -lt 5 ]; do sleep 0.02; done', { timeoutMs: 10_000 })
      await sandbox.lifecycle.shutdown()
      if (count !== undefined) await eventually('nothing left', async () => (await count(mark)) === 0, 3_000)
      await sandbox.lifecycle.start()
      const before = (await sandbox.exec('wc -l beat*')).stdout
      await sleep(200)
      expect((await sandbox.exec('wc -l beat*')).stdout).toBe(before)
    })

    it('a shutdown resolves pending execs and exits as cancelled or interrupted', async () => {
      const under = await newSandbox(make)
      const { sandbox } = under
      const mark = newMark()
      const exec = background(sandbox.exec(['sleep', mark]))
      const spawned = await sandbox.spawn(['sleep', mark])
      await eventually('both to run', async () => (await sandbox.processes.list()).length === 2)
      await sandbox.lifecycle.shutdown()
      expect((await withTimeLimit('the exec', exec)).outcome).toMatch(/cancelled|interrupted/)
      expect((await withTimeLimit('the exit', spawned.exit)).outcome).toMatch(/cancelled|interrupted/)
      const types = typesOf(await allEvents(under.journal))
      expect(types.lastIndexOf('process.exited')).toBeLessThan(types.lastIndexOf('sandbox.stopped'))
    })

    it('a process that is being started during a shutdown does not survive it', async () => {
      const { sandbox, count } = await newSandbox(make)
      const mark = newMark()
      for (let round = 0; round < 5; round += 1) {
        const starting = Array.from({ length: 10 }, () => background(sandbox.spawn(`sleep ${mark}; :`)))
        if (round > 0) await sleep(round * 3)
        await sandbox.lifecycle.shutdown()
        for (const started of await Promise.allSettled(starting)) {
          if (started.status === 'rejected')
            expect(started.reason).toMatchObject({ code: expect.any(String) })
          else
            expect((await withTimeLimit('its end', started.value.exit)).outcome).toMatch(
              /cancelled|interrupted/,
            )
        }
        if (count !== undefined)
          await eventually('nothing left', async () => (await count(mark)) === 0, 3_000)
        await sandbox.lifecycle.start()
      }
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    })

    it('a sandbox starts again with the same workspace', async () => {
      const { sandbox } = await newSandbox(make)
      await sandbox.exec('mkdir -p a/b && echo kept > a/b/file')
      await sandbox.lifecycle.shutdown()
      await expect(attempt(() => sandbox.exec('true'))).rejects.toMatchObject({ code: 'sandbox_not_running' })
      await expect(attempt(() => sandbox.spawn('true'))).rejects.toMatchObject({
        code: 'sandbox_not_running',
      })
      await sandbox.lifecycle.start()
      expect((await sandbox.exec('cat a/b/file')).stdout).toBe('kept\n')
      expect((await sandbox.exec('echo more >> a/b/file && wc -l < a/b/file')).stdout.trim()).toBe('2')
    })

    it('a sandbox survives many starts and shutdowns, also concurrent ones', async () => {
      const { sandbox } = await newSandbox(make)
      for (const _round of [1, 2, 3]) {
        await Promise.all([
          sandbox.lifecycle.shutdown(),
          sandbox.lifecycle.start(),
          sandbox.lifecycle.shutdown(),
          sandbox.lifecycle.start(),
        ])
        expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
      }
    })

    it('pause stops the processes, and resume continues them', async ({ skip }) => {
      const { sandbox, journal } = await newSandbox(make)
      if (sandbox.capabilities.pause === 'none') skip()
      const process = await sandbox.spawn(`echo from; ${counting(`${sandbox.root}/count`)}`)
      await sandbox.exec('while [ ! -s count ]; do sleep 0.02; done')
      await sandbox.lifecycle.pause()
      expect(await sandbox.lifecycle.running()).toBe(false)
      await sandbox.lifecycle.pause()
      await sandbox.lifecycle.resume()
      expect(await sandbox.lifecycle.running()).toBe(true)
      await sandbox.lifecycle.resume()
      const before = await lines(sandbox)
      await eventually('it to count on', async () => (await lines(sandbox)) > before)
      expect(await process.kill()).toMatchObject({ outcome: 'cancelled' })
      const types = typesOf(await allEvents(journal)).filter((type) => /sandbox\.(paused|resumed)/.test(type))
      expect(types).toEqual(['sandbox.paused', 'sandbox.resumed'])
    })

    it('no process runs while the sandbox is paused', async ({ skip }) => {
      const { sandbox } = await newSandbox(make)
      if (sandbox.capabilities.pause === 'none') skip()
      // Processes that fork right after their start must be paused too.
      for (const file of ['a', 'b', 'c', 'd', 'e'])
        await sandbox.exec(`(while date +%s%N >> $PWD/${file}; do sleep 0.02; done) > /dev/null 2>&1 &`)
      await sandbox.exec('while [ $(ls | wc -l) -lt 5 ]; do sleep 0.02; done', { timeoutMs: 10_000 })
      await sandbox.lifecycle.pause()
      await sleep(800)
      await sandbox.lifecycle.resume()
      await sleep(100)
      for (const file of ['a', 'b', 'c', 'd', 'e']) {
        const { stdout } = await sandbox.exec(['tail', '-n', '60', file])
        const times = stdout
          .trim()
          .split('\n')
          .map((line) => Number(line) / 1e6)
        const pauses = times.slice(1).map((time, index) => time - (times[index] ?? time))
        expect({ file, longest: Math.max(...pauses) > 700 }).toEqual({ file, longest: true })
      }
    })

    it('a paused sandbox refuses commands', async ({ skip }) => {
      const { sandbox } = await newSandbox(make)
      if (sandbox.capabilities.pause === 'none') skip()
      await sandbox.lifecycle.pause()
      const paused = { code: 'sandbox_paused', retryable: false }
      await expect(attempt(() => sandbox.exec('touch ran'))).rejects.toMatchObject(paused)
      await expect(attempt(() => sandbox.spawn('touch ran'))).rejects.toMatchObject(paused)
      await sandbox.lifecycle.resume()
      expect((await sandbox.exec('ls -A')).stdout).toBe('')
    })

    it('a paused sandbox can kill processes, and can be shut down', async ({ skip }) => {
      const under = await newSandbox(make)
      const { sandbox, count } = under
      if (sandbox.capabilities.pause === 'none') skip()
      const mark = newMark()
      const [one, other] = [
        await sandbox.spawn(`sleep ${mark} & wait`),
        await sandbox.spawn(`sleep ${mark} & wait`),
      ]
      await waitForMarked(under, mark, 4)
      await sandbox.lifecycle.pause()
      expect(await withTimeLimit('the kill', one.kill())).toMatchObject({ outcome: 'cancelled' })
      await withTimeLimit('the shutdown', sandbox.lifecycle.shutdown())
      expect(await withTimeLimit('the exit', other.exit)).toMatchObject({ outcome: 'cancelled' })
      if (count !== undefined) await eventually('nothing left', async () => (await count(mark)) === 0, 3_000)
      await sandbox.lifecycle.start()
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    })

    it('a destroyed sandbox refuses all calls, but its journal stays', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const process = await sandbox.spawn(['sleep', '1000'])
      await sandbox.lifecycle.destroy()
      expect((await process.exit).outcome).toMatch(/cancelled|interrupted/)
      const gone = { code: 'sandbox_destroyed', retryable: false }
      await expect(attempt(() => sandbox.exec('true'))).rejects.toMatchObject(gone)
      await expect(attempt(() => sandbox.spawn('true'))).rejects.toMatchObject(gone)
      await expect(attempt(() => sandbox.ports.list())).rejects.toMatchObject(gone)
      await expect(attempt(() => sandbox.lifecycle.start())).rejects.toMatchObject(gone)
      await expect(attempt(() => sandbox.lifecycle.resume())).rejects.toMatchObject(gone)
      await sandbox.lifecycle.destroy()
      expect(await sandbox.lifecycle.running()).toBe(false)
      const types = typesOf(await allEvents(journal))
      expect(types.filter((type) => type === 'sandbox.destroyed')).toHaveLength(1)
    })
  })

  describe('closing', () => {
    it('a closed handle refuses calls and can be closed again; nothing is destroyed', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec('echo kept > file')
      await Promise.all([sandbox.close(), sandbox.as({ actor: 'other' }).close()])
      await sandbox.close()
      await expect(attempt(() => sandbox.exec('true'))).rejects.toMatchObject({
        code: options.remote ? 'connection_failed' : 'sandbox_not_running',
      })
      const types = typesOf(await allEvents(journal))
      expect(types).not.toContain('sandbox.destroyed')
      // Over a connection only the connection ends.
      expect(types.includes('sandbox.stopped')).toBe(!options.remote)
    })

    it('a handle can be closed during and after a destroy', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.lifecycle.destroy()
      await Promise.all([sandbox.lifecycle.destroy(), sandbox.lifecycle.destroy()])
      await Promise.all([sandbox.close(), sandbox.close()])
      await sandbox.close()
      const types = typesOf(await allEvents(journal))
      expect(types.filter((type) => type === 'sandbox.destroyed')).toHaveLength(1)
    })

    it('closing a handle ends its waiting calls', async () => {
      const { sandbox } = await newSandbox(make)
      const exec = background(sandbox.exec(['sleep', '1000']))
      await eventually('it to run', async () => (await sandbox.processes.list()).length === 1)
      await sandbox.close()
      if (options.remote) await expect(exec).rejects.toMatchObject({ code: 'connection_failed' })
      else expect((await withTimeLimit('the exec', exec)).outcome).toMatch(/cancelled|interrupted/)
    })
  })

  describe('before-stop hooks', () => {
    it('before-stop hooks run once, in order, while the sandbox still works', async () => {
      const under = await newSandbox(make)
      const { sandbox } = under
      const hooks = new StopHooks(under, options)
      await hooks.add('first', {
        async call(ran) {
          expect((await sandbox.exec('echo first')).stdout).toBe('first\n')
          ran()
        },
        run: 'echo first > by-hook',
      })
      await hooks.add('second', { call: (ran) => ran() })
      await sandbox.lifecycle.stop()
      expect(await hooks.ran()).toEqual(['first', 'second'])
      expect(await sandbox.lifecycle.running()).toBe(false)
      await sandbox.lifecycle.start()
      await sandbox.lifecycle.stop()
      expect(await hooks.ran()).toEqual(['first', 'second'])
    })

    it('before-stop hooks all run again after another one is registered', async () => {
      const under = await newSandbox(make)
      const { sandbox } = under
      const hooks = new StopHooks(under, options)
      await hooks.add('a', { call: (ran) => ran() })
      await sandbox.lifecycle.stop()
      await sandbox.lifecycle.start()
      await hooks.add('b', { call: (ran) => ran() })
      await sandbox.lifecycle.stop()
      expect(await hooks.ran()).toEqual(['a', 'a', 'b'])
    })

    it('a stop runs all hooks when one fails, still stops, rejects with the first error, and persists nothing', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      const hooks = new StopHooks(under, options)
      await hooks.add('a', { call: (ran) => ran() })
      await hooks.add('b', {
        async call(ran) {
          ran()
          throw new Error('the first error')
        },
        run: 'echo the first error >&2; exit 3',
      })
      await hooks.add('c', {
        call(ran) {
          ran()
          throw new Error('another error')
        },
        run: 'echo another error >&2; exit 4',
      })
      await expect(sandbox.lifecycle.stop()).rejects.toThrow('the first error')
      expect(await hooks.ran()).toEqual(['a', 'b', 'c'])
      expect(await sandbox.lifecycle.running()).toBe(false)
      const stopped = async () =>
        (await allEvents(journal)).filter(({ type }) => type === 'sandbox.stopped').map(({ data }) => data)
      expect(await stopped()).toMatchObject([{ persistenceBlocked: true }])
      await sandbox.lifecycle.start()
      await sandbox.lifecycle.stop()
      expect(await stopped()).toMatchObject([{ persistenceBlocked: true }, { persistenceBlocked: true }])
    })

    it('a stop without failed hooks does not block persistence', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      await new StopHooks(under, options).add('fine', { call: () => undefined })
      await sandbox.lifecycle.stop()
      const [stopped] = (await allEvents(journal)).filter(({ type }) => type === 'sandbox.stopped')
      expect(stopped?.data.persistenceBlocked).toBeUndefined()
    })

    it('before-stop hooks do not run for a shutdown', async () => {
      const under = await newSandbox(make)
      const hooks = new StopHooks(under, options)
      await hooks.add('hook', { call: (ran) => ran() })
      await under.sandbox.lifecycle.shutdown()
      expect(await hooks.ran()).toEqual([])
    })

    it.runIf(options.remote)('a remote sandbox refuses a hook function, which cannot be sent', async () => {
      const { sandbox } = await newSandbox(make)
      await expect(sandbox.lifecycle.onBeforeStop(() => undefined)).rejects.toMatchObject({
        code: 'unsupported',
      })
    })
  })
}

async function lines(sandbox: TestedSandbox): Promise<number> {
  return Number((await sandbox.exec('wc -l < count')).stdout)
}
