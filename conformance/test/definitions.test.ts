import { isVitrineError, type Sandbox } from '@vitrine/protocol'
import {
  type DefineSandboxOptions,
  defineSandbox,
  type SandboxDefinition,
  type SandboxFileEvent,
} from '@vitrine/runtime'
import { afterEach, expect, it, vi } from 'vitest'
import { hostClients } from './sandbox-run-clients.ts'
import { describeRuns } from './sandbox-run-setting.ts'

const context = { threadId: 'thread-1', runId: 'run-1' }
const line = ({ type, path }: SandboxFileEvent) => `${type} ${path}`

describeRuns(
  (setting) => {
    const defined: SandboxDefinition[] = []
    const define = (options: Partial<DefineSandboxOptions> = {}) => {
      const definition = defineSandbox({ id: 'repo', provider: setting.client, ...options })
      defined.push(definition)
      return definition
    }
    afterEach(async () => {
      for (const definition of defined.splice(0)) await definition.close()
      for (const { id } of await setting.client.list()) await setting.client.destroy(id)
    })

    it('is one for a thread, and another for another thread, tenant, workspace or definition', async () => {
      const definition = define()
      const { id } = await definition.ensure(context)
      expect((await definition.ensure({ ...context, runId: 'run-2' })).id).toBe(id)
      expect((await definition.ensureExisting(context))?.id).toBe(id)
      expect(await definition.ensureExisting({ ...context, threadId: 'thread-2' })).toBeUndefined()
      const others = [
        await definition.ensure({ ...context, threadId: 'thread-2' }),
        await definition.ensure({ ...context, tenant: 'acme' }),
        await define({ id: 'other' }).ensure(context),
        await define({ lifecycle: { reuse: 'none' } }).ensure(context),
        await define({ lifecycle: { reuse: 'none' } }).ensure({ ...context, runId: 'run-2' }),
      ]
      expect(new Set([id, ...others.map((sandbox) => sandbox.id)]).size).toBe(6)
      const [info] = await setting.client.list({ labels: { 'definition.key': definition.key(context) } })
      expect(info).toMatchObject({ id, labels: { definition: 'repo' } })
    })

    it('is created once by many callers at once', async () => {
      const definitions = [define(), define()]
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, index) => definitions[index % 2]?.ensure(context)),
      )
      expect(new Set(all.map((sandbox) => sandbox?.id)).size).toBe(1)
      expect(await setting.client.list()).toHaveLength(1)
      for (const sandbox of all) expect(await sandbox?.lifecycle.running()).toBe(true)
    })

    it('is started again after a stop, and replaced under another id after it was destroyed', async () => {
      const definition = define()
      const first = await definition.ensure(context)
      await first.lifecycle.stop()
      const again = await definition.ensure(context)
      expect([again.id, await again.lifecycle.running()]).toEqual([first.id, true])
      await definition.destroy(context)
      await definition.destroy(context)
      expect(await definition.ensureExisting(context)).toBeUndefined()
      const next = await definition.ensure(context)
      expect([next.id === first.id, await next.lifecycle.running()]).toEqual([false, true])
    })

    it('is never handed out dead while another caller destroys it', async () => {
      const [definition, other] = [define(), define()]
      const ids = new Set<string>()
      for (let round = 0; round < 5; round += 1) {
        const [sandbox] = await Promise.all([definition.ensure(context), other.destroy(context)])
        ids.add(sandbox.id)
      }
      const last = await definition.ensure(context)
      expect(await last.lifecycle.running()).toBe(true)
      const infos = await setting.client.list({ state: 'all', labels: { definition: 'repo' } })
      expect(infos.filter(({ state }) => state !== 'destroyed').map(({ id }) => id)).toEqual([last.id])
    })

    it('calls its hooks once for each event, however many runs share the sandbox', async () => {
      const calls: string[] = []
      const ready: string[] = []
      let destroyed = 0
      const definition = define({
        hooks: {
          onFile: (event) => calls.push(`onFile ${line(event)}`),
          onFileCreate: (event) => calls.push(`onFileCreate ${line(event)}`),
          onFileChange: (event) => calls.push(`onFileChange ${line(event)}`),
          onFileDelete: (event) => calls.push(`onFileDelete ${line(event)}`),
          onReady: ({ id }: Sandbox) => ready.push(id),
          onDestroy: () => (destroyed += 1),
        },
      })
      const [one, two] = await Promise.all([
        definition.ensure(context),
        definition.ensure({ ...context, runId: 'run-2' }),
      ])
      await one.files.write('a.txt', 'one')
      await one.files.flush()
      await two.files.write('a.txt', 'two')
      await two.files.flush()
      await two.files.move('a.txt', 'b.txt')
      await definition.destroy(context)
      expect(calls).toEqual([
        ...['onFile create a.txt', 'onFileCreate create a.txt'],
        ...['onFile change a.txt', 'onFileChange change a.txt'],
        ...['onFile delete a.txt', 'onFileDelete delete a.txt'],
        ...['onFile create b.txt', 'onFileCreate create b.txt'],
      ])
      expect(ready).toEqual([one.id])
      expect(destroyed).toBe(1)
    })

    it('gives a move to its hook, and the errors of hooks to onError', async () => {
      const errors: string[] = []
      const definition = define({
        hooks: {
          onFile: () => Promise.reject(new Error('rejected')),
          onFileMove({ previousPath, path }) {
            throw new Error(`${previousPath} to ${path}`)
          },
          onFileCreate: () => new Promise(() => undefined),
          onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
        },
      })
      const sandbox = await definition.ensure(context)
      await sandbox.files.write('a', 'text')
      await sandbox.files.flush()
      await sandbox.files.move('a', 'b')
      await definition.close()
      await vi.waitFor(() => expect(errors.sort()).toEqual(['a to b', 'rejected', 'rejected']))
    })

    it('calls onDestroy when another caller destroys the sandbox', async () => {
      const destroyed = Promise.withResolvers<void>()
      const definition = define({ hooks: { onDestroy: () => destroyed.resolve() } })
      const { id } = await definition.ensure(context)
      await setting.client.destroy(id)
      await destroyed.promise
    })

    it('has no watcher with fileEvents: false', async () => {
      const calls: string[] = []
      const definition = define({ fileEvents: false, hooks: { onFile: (event) => calls.push(line(event)) } })
      const sandbox = await definition.ensure(context)
      await sandbox.files.write('a', 'text')
      await definition.close()
      expect([calls, sandbox.capabilities.watching]).toEqual([[], 'none'])
      expect((await sandbox.journal.read({ types: ['file.*', 'watch.*'] })).events).toEqual([])
    })

    it('reports a creation that fails, and leaves nothing', async () => {
      const errors: unknown[] = []
      const definition = define({
        workspace: { setup: ['exit 3'] },
        hooks: { onError: (error) => errors.push(isVitrineError(error) && error.code) },
      })
      const failed = await definition.ensure(context).catch((error: unknown) => error)
      expect(isVitrineError(failed)).toBe(true)
      expect(errors).toEqual([isVitrineError(failed) && failed.code])
      expect(await setting.client.list()).toEqual([])
    })

    it.each<[string, object, string]>([
      ['without a tenant where one is required', { threadId: 'a', runId: 'b' }, 'tenant'],
      ['without a thread', { runId: 'b', tenant: 'x' }, 'threadId'],
      ['with a tenant that is none', { threadId: 'a', runId: 'b', tenant: 7 }, 'tenant'],
    ])('refuses ensure %s', async (_name, given, named) => {
      await expect(define({ requireTenant: true }).ensure(given as never)).rejects.toMatchObject({
        code: 'argument_invalid',
        message: expect.stringContaining(named),
      })
    })
  },
  { subject: 'a definition with sandboxes', clients: hostClients },
)
