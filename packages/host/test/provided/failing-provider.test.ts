import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ProvidedSandbox, SandboxProvider } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../src/index.ts'
import { dataFolder, open } from '../fixtures/data.ts'
import { folderProvider } from '../fixtures/folder-provider.ts'

type Method = 'create' | 'open' | 'pause' | 'resume' | 'destroy' | 'kill'

interface Scene {
  readonly host: Host
  readonly inner: Host
  /** Makes one method of the provider behave otherwise. */
  replace(method: Method, behaviour: (...given: never[]) => unknown): void
  repair(method: Method): void
}

async function openScene(): Promise<Scene> {
  const base = dataFolder()
  const { provider, inner } = await folderProvider(base)
  onTestFinished(() => inner.close())
  const own: Record<string, unknown> = {
    ...provider,
    pause: async () => undefined,
    resume: async () => undefined,
    kill: (id: string, call: never) => provider.destroy(id, call),
  }
  const whole = { ...own }
  const host = await open(join(base, 'host'), { providers: [own as unknown as SandboxProvider] })
  return {
    host,
    inner,
    replace: (method, behaviour) => Object.assign(own, { [method]: behaviour }),
    repair: (method) => Object.assign(own, { [method]: whole[method] }),
  }
}

/** The call of the host that reaches each method. */
const callOf: Readonly<Record<Method, (host: Host, signal?: AbortSignal) => Promise<unknown>>> = {
  create: (host, signal) => host.create({ id: 'one', provider: 'folders', ...(signal && { signal }) }),
  open: (host, signal) => host.create({ id: 'one', provider: 'folders', ...(signal && { signal }) }),
  pause: async (host) => (await host.find('one')).lifecycle.pause(),
  resume: async (host) => (await host.find('one')).lifecycle.resume(),
  destroy: (host) => host.destroy('one'),
  kill: (host) => host.destroy('one'),
}

const creates = (method: Method) => method === 'create' || method === 'open'

const ways: readonly [string, () => unknown][] = [
  [
    'throws',
    () => {
      throw new Error('out of machines')
    },
  ],
  ['rejects', () => Promise.reject(new Error('out of machines'))],
  ['rejects with no error', () => Promise.reject('out of machines')],
]

for (const method of ['create', 'open', 'pause', 'resume', 'destroy', 'kill'] as const) {
  it.each(ways)(
    `a provider whose \`${method}\` %s fails that call by name; the host goes on`,
    async (_way, fail) => {
      const scene = await openScene()
      const { host } = scene
      if (!creates(method)) await callOf.create(host)
      if (method === 'destroy') scene.replace('kill', undefined as never)
      scene.replace(method, fail)
      await expect(callOf[method](host)).rejects.toMatchObject({
        code: 'provider_failed',
        message: `The provider folders failed in \`${method}\`: out of machines.`,
        details: { provider: 'folders', method, sandbox: 'one' },
      })
      await expectOneEnd(host, method, 'failed')
      await expectGoesOn(scene, method)
    },
  )
}

it.each([
  ['create', undefined, 'expected the id of the sandbox, a string, got a value of type undefined'],
  ['create', '', 'expected the id of the sandbox, a string, got ""'],
  ['create', { id: 'x' }, 'expected the id of the sandbox, a string, got a value of type object'],
  ['open', undefined, 'expected a sandbox whose `id` is a string, got undefined'],
  ['open', { id: 'one', root: '/' }, 'expected a sandbox whose `capabilities` is a object, got undefined'],
] as const)('a provider whose `%s` returns %o fails by name', async (method, garbage, message) => {
  const scene = await openScene()
  scene.replace(method, async () => garbage)
  await expect(callOf[method](scene.host)).rejects.toMatchObject({
    code: 'provider_failed',
    message: expect.stringContaining(message),
  })
  await expectGoesOn(scene, method)
})

it('a provider that opens another sandbox than asked for is refused', async () => {
  const scene = await openScene()
  const { inner } = scene
  scene.replace('open', () => inner.create({ id: 'other', local: { isolation: 'none' } }))
  await expect(callOf.open(scene.host)).rejects.toThrow('expected a sandbox with the id one, got "other"')
  await expectGoesOn(scene, 'open')
})

it.each(['create', 'open'] as const)(
  'a provider whose `%s` settles only when it is aborted is cancelled, and nothing is left',
  async (method) => {
    const scene = await openScene()
    const cancellation = new AbortController()
    let hasBegun = false
    scene.replace(method, (_given: unknown, { signal }: { signal: AbortSignal }) => {
      hasBegun = true
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const creating = callOf[method](scene.host, cancellation.signal)
    creating.catch(() => undefined)
    await expect.poll(() => hasBegun, { timeout: 20_000 }).toBe(true)
    cancellation.abort()
    await expect(creating).rejects.toMatchObject({
      code: 'cancelled',
      message: `The provider folders failed in \`${method}\`: it was cancelled.`,
    })
    await expectOneEnd(scene.host, method, 'cancelled')
    await expectGoesOn(scene, method)
  },
)

it('a sandbox that a provider creates although it was cancelled is removed', async () => {
  const scene = await openScene()
  const cancellation = new AbortController()
  const removed: string[] = []
  scene.replace('create', async () => {
    cancellation.abort()
    return 'late'
  })
  scene.replace('kill', async (id: string) => void removed.push(id))
  await expect(callOf.create(scene.host, cancellation.signal)).rejects.toMatchObject({ code: 'cancelled' })
  expect(removed).toEqual(['late'])
  expect(await scene.host.list()).toEqual([])
})

it.each(['pause', 'resume', 'destroy', 'kill'] as const)(
  'a provider whose `%s` settles only when it is aborted ends with the host',
  async (method) => {
    const scene = await openScene()
    await callOf.create(scene.host)
    if (method === 'destroy') scene.replace('kill', undefined as never)
    let hasBegun = false
    scene.replace(method, (_id: unknown, { signal }: { signal: AbortSignal }) => {
      hasBegun = true
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const calling = callOf[method](scene.host)
    calling.catch(() => undefined)
    await expect.poll(() => hasBegun, { timeout: 20_000 }).toBe(true)
    await scene.host.close()
    await expect(calling).rejects.toMatchObject({ details: { provider: 'folders', method } })
  },
)

it('a sandbox that its provider cannot remove stays on record until it is destroyed', async () => {
  const scene = await openScene()
  scene.replace('open', () => Promise.reject(new Error('no way in')))
  scene.replace('kill', () => Promise.reject(new Error('no way out')))
  await expect(callOf.open(scene.host)).rejects.toThrow('no way in')
  expect(await scene.host.list()).toMatchObject([{ id: 'one', provider: 'folders', state: 'stopped' }])
  await expect(scene.host.destroy('one')).rejects.toThrow('no way out')
  scene.repair('kill')
  await scene.host.destroy('one')
  expect(scene.host.info('one')).toMatchObject({ state: 'destroyed' })
  expect(scene.inner.info('one')).toMatchObject({ state: 'destroyed' })
})

it('an error of Vitrine keeps its code, and an error of the sandbox itself names its method', async () => {
  const scene = await openScene()
  const { inner } = scene
  const dead = () => Promise.reject(new Error('the line is dead'))
  scene.replace('open', async (id: string) => {
    const sandbox: ProvidedSandbox = await inner.attach(id)
    const get = (target: object, name: string) => {
      const value: unknown = Reflect.get(target, name, target)
      return name === 'exec' ? dead : typeof value === 'function' ? value.bind(target) : value
    }
    return new Proxy(sandbox, { get })
  })
  const sandbox = await scene.host.create({ id: 'one', provider: 'folders' })
  await expect(sandbox.exec('true')).rejects.toMatchObject({
    code: 'provider_failed',
    message: 'The provider folders failed in `sandbox.exec`: the line is dead.',
  })
  await scene.host.destroy('one')
  scene.replace('create', () => inner.find('never'))
  await expect(scene.host.create({ provider: 'folders' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('The provider folders failed in `create`: There is no sandbox never'),
  })
})

/** The operation of a failed call has one start and one end. */
async function expectOneEnd({ store }: Host, method: Method, outcome: string): Promise<void> {
  const journal = await store.journal('host')
  const { events } = await journal.read({ types: ['operation.*'] })
  const found = events.filter((event) => 'op' in event.data && event.data.op === `provider_${method}`)
  expect(found.map(({ type }) => type)).toEqual(['operation.started', 'operation.finished'])
  expect(found[1]?.data).toMatchObject({ outcome })
}

/** Nothing is left of a failed creation, and the same call works once the provider does. */
async function expectGoesOn(scene: Scene, method: Method): Promise<void> {
  const { host, inner } = scene
  if (creates(method)) {
    expect(await host.list()).toEqual([])
    expect(readdirSync(join(host.data, 'records'))).toEqual([])
    expect(await inner.list({ state: 'running' })).toEqual([])
  } else if (method !== 'destroy' && method !== 'kill') {
    expect((await (await host.find('one')).exec('echo on')).stdout).toBe('on\n')
  }
  scene.repair(method)
  if (creates(method)) {
    const sandbox = await host.create({ id: 'two', provider: 'folders' })
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  } else await callOf[method](host)
}
