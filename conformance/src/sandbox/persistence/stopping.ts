import type { JournalReader } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { background } from '../../waiting/background.ts'
import { eventually, withTimeLimit } from '../../waiting/within.ts'
import { allEvents, operationsOf } from '../events.ts'
import { outputOf, readText } from '../files/content.ts'
import { StopHooks } from '../hooks.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions } from '../kit.ts'

/** The starts and ends of a stop's operations in order: `stop`, `before_stop`, `/before_stop`… */
async function stepsOf(journal: JournalReader): Promise<string[]> {
  const ops = ['stop', 'before_stop', 'persist_workspace', 'shutdown', 'destroy']
  return (await allEvents(journal)).flatMap(({ type, data }) => {
    if (type === 'sandbox.stopped' || type === 'sandbox.destroyed') return [type]
    if (!type.startsWith('operation.') || !ops.includes(`${data.op}`)) return []
    return [`${type === 'operation.finished' ? '/' : ''}${data.op}`]
  })
}

const whole = [
  'stop',
  'before_stop',
  '/before_stop',
  'persist_workspace',
  '/persist_workspace',
  'shutdown',
  'sandbox.stopped',
  '/shutdown',
  '/stop',
]
/** A command that fails like a hook function that rejects with "half state". */
const halfState = 'echo half state >&2; exit 3'
const withoutPersisting = whole.filter((step) => !step.includes('persist'))

export function stoppingCases(make: MakeSandbox, options: SandboxKitOptions): void {
  describe('stopping', () => {
    it('stop runs the hooks, then persists, then shuts down', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      await new StopHooks(under, options).add('writing', {
        call: async () => void (await sandbox.files.write('by-hook', 'x')),
        run: 'echo x > by-hook',
      })
      await sandbox.lifecycle.stop()
      expect(await stepsOf(journal)).toEqual(whole)
      const events = await allEvents(journal)
      const before = operationsOf(events, 'before_stop')[0]!
      const write = operationsOf(events, options.remote ? 'exec' : 'write')[0]!
      expect(write.at(-1)!.seq).toBeLessThan(before.at(-1)!.seq)
    })

    it('a stopped sandbox has the same workspace after a start', async () => {
      const { sandbox } = await newSandbox(make)
      await sandbox.exec('mkdir -p a && echo kept > a/f && chmod 700 a && ln -s a/f l')
      await sandbox.lifecycle.stop()
      expect(await sandbox.lifecycle.running()).toBe(false)
      await sandbox.lifecycle.start()
      expect(await outputOf(sandbox, 'cat l; stat -c %a a')).toBe('kept\n700')
    })

    it('a failed hook blocks persistence permanently, and the sandbox still stops', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      await new StopHooks(under, options).add('broken', {
        call: () => Promise.reject(new Error('half state')),
        run: halfState,
      })
      await expect(sandbox.lifecycle.stop()).rejects.toThrow('half state')
      expect(await sandbox.lifecycle.running()).toBe(false)
      expect(await stepsOf(journal)).toEqual(withoutPersisting)
      await sandbox.lifecycle.start()
      await sandbox.lifecycle.stop()
      expect((await stepsOf(journal)).filter((step) => step.includes('persist'))).toEqual([])
      const [stop] = operationsOf(await allEvents(journal), 'stop')
      expect(stop?.at(-1)?.data).toMatchObject({ outcome: 'failed' })
    })

    it('a repeated stop never persists after a failure, also when later hooks succeed', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      const hooks = new StopHooks(under, options)
      let isBroken = true
      await hooks.add('broken', {
        call() {
          if (isBroken) throw new Error('half state')
        },
        run: `[ -e mended ] || { ${halfState}; }`,
      })
      await expect(sandbox.lifecycle.stop()).rejects.toThrow('half state')
      isBroken = false
      for (const _round of [1, 2]) {
        await sandbox.lifecycle.start()
        await sandbox.exec('touch mended')
        await hooks.add('fine', { call: () => undefined })
        await sandbox.lifecycle.stop()
      }
      await sandbox.lifecycle.stop()
      expect((await stepsOf(journal)).filter((step) => step.includes('persist'))).toEqual([])
    })

    it('a cancelled hook skips persistence, and the stop still completes', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      const hooks = new StopHooks(under, options)
      const process = await sandbox.spawn(['sleep', '1000'])
      await hooks.add('cancelled', {
        async call(ran) {
          ran()
          await sandbox.files.read('.', { signal: AbortSignal.abort() })
        },
        run: 'kill -9 $$',
      })
      await hooks.add('other', { call: (ran) => ran() })
      // A command hook takes no AbortSignal, so the case kills it instead.
      const code = options.remote ? 'before_stop_failed' : 'cancelled'
      await expect(sandbox.lifecycle.stop()).rejects.toMatchObject({ code })
      expect(await hooks.ran()).toEqual(['cancelled', 'other'])
      expect((await withTimeLimit('its end', process.exit)).outcome).toMatch(/cancelled|interrupted/)
      expect(await stepsOf(journal)).toEqual(withoutPersisting)
    })

    it('a hook that rejects with an AbortError or with undefined also blocks persistence', async () => {
      for (const [reason, run] of [
        [new DOMException('gone', 'AbortError'), 'kill -INT $$'],
        [undefined, 'exit 1'],
      ] as const) {
        const under = await newSandbox(make)
        const { sandbox, journal } = under
        await new StopHooks(under, options).add('broken', { call: () => Promise.reject(reason), run })
        await expect(sandbox.lifecycle.stop()).rejects.toSatisfy(() => true)
        expect(await stepsOf(journal)).toEqual(withoutPersisting)
      }
    })

    it('a concurrent stop waits for the hooks of the first, and does not persist when they fail', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      const hooks = new StopHooks(under, options)
      const hook = Promise.withResolvers<void>()
      await hooks.add('waiting', {
        call(ran) {
          ran()
          return hook.promise
        },
        run: `until [ -e go ]; do sleep 0.05; done; ${halfState}`,
      })
      const first = background(sandbox.lifecycle.stop())
      await eventually('the hook to run', async () => (await hooks.ran()).length === 1)
      const second = background(sandbox.lifecycle.stop())
      await eventually('the second', async () => operationsOf(await allEvents(journal), 'stop').length === 2)
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
      if (options.remote) await sandbox.exec('touch go')
      else hook.reject(new Error('half state'))
      await expect(withTimeLimit('the first', first)).rejects.toThrow('half state')
      await withTimeLimit('the second', Promise.allSettled([second]))
      expect((await stepsOf(journal)).filter((step) => step.includes('persist'))).toEqual([])
      expect((await stepsOf(journal)).filter((step) => step === 'sandbox.stopped')).toHaveLength(1)
    })

    it('concurrent stops persist and stop once', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      const hooks = new StopHooks(under, options)
      await hooks.add('slow', {
        async call(ran) {
          await sandbox.exec('sleep 0.1; echo x > by-hook')
          ran()
        },
        run: 'sleep 0.1; echo x > by-hook',
      })
      await withTimeLimit('all', Promise.all([1, 2, 3].map(() => sandbox.lifecycle.stop())))
      expect(await hooks.ran()).toEqual(['slow'])
      const steps = await stepsOf(journal)
      expect(steps.filter((step) => step === 'sandbox.stopped')).toHaveLength(1)
      expect(steps.filter((step) => step === 'persist_workspace')).toHaveLength(1)
    })

    it('a shutdown does not persist', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.exec('echo kept > f')
      await sandbox.lifecycle.shutdown()
      expect(await stepsOf(journal)).toEqual(['shutdown', 'sandbox.stopped', '/shutdown'])
      await sandbox.lifecycle.start()
      expect(await readText(sandbox, 'f')).toBe('kept\n')
    })

    it('a stop of a sandbox that does not run persists nothing', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.stop()
      expect((await stepsOf(journal)).filter((step) => step.includes('persist'))).toEqual([])
    })

    it('destroy removes the workspace, and not the journal', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const mark = `kept-${sandbox.id}`
      await sandbox.exec(
        `mkdir -p locked/deep && echo ${mark} > locked/deep/f && chmod 500 locked/deep locked`,
      )
      const head = (await allEvents(journal)).length
      await sandbox.lifecycle.destroy()
      expect(await stepsOf(journal)).toEqual(['destroy', 'sandbox.destroyed', '/destroy'])
      expect((await allEvents(journal)).length).toBeGreaterThan(head)
      const gone = { code: 'sandbox_destroyed' }
      await expect(sandbox.persist()).rejects.toMatchObject(gone)
      await expect(sandbox.hydrate(Buffer.alloc(1_024))).rejects.toMatchObject(gone)
      await expect(sandbox.files.download('.')).rejects.toMatchObject(gone)
      const other = await newSandbox(make)
      const { stdout } = await other.sandbox.exec(`test -e '${sandbox.root}/locked' && echo there`)
      if (other.sandbox.root !== sandbox.root) expect(stdout).toBe('')
    })
  })
}
