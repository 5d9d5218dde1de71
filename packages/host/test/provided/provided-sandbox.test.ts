import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HostProvider } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { local, openHost } from '../../src/index.ts'
import { dataFolder, open } from '../fixtures/data.ts'
import { folderProvider } from '../fixtures/folder-provider.ts'

async function openProvider() {
  const base = dataFolder()
  const { provider, inner } = await folderProvider(base)
  onTestFinished(() => inner.close())
  return { provider, inner, base, data: join(base, 'host') }
}

it('the built-in provider and one of a user have the same type', async () => {
  const { provider, data } = await openProvider()
  const providers: readonly HostProvider[] = [local({ isolation: 'none' }), provider]
  const host = await open(data, { providers })
  await host.create({ id: 'one' })
  await host.create({ id: 'two', provider: 'folders' })
  expect((await host.list()).map(({ provider: name }) => name).sort()).toEqual(['folders', 'local'])
})

it('a sandbox whose provider is missing is listed, and refused with the name of the provider', async () => {
  const { provider, data } = await openProvider()
  const first = await open(data, { providers: [provider] })
  await first.create({ id: 'one', provider: 'folders' })
  await first.close()
  const second = await open(data)
  expect(await second.list()).toMatchObject([{ id: 'one', provider: 'folders', state: 'stopped' }])
  const missing = { code: 'provider_missing', message: expect.stringContaining('the provider folders') }
  await expect(second.attach('one')).rejects.toMatchObject(missing)
  await expect(second.destroy('one')).rejects.toMatchObject(missing)
})

it('a sandbox that comes back with another journal is refused, and its record stays as it was', async () => {
  const { provider, inner, data } = await openProvider()
  const first = await open(data, { providers: [provider] })
  await first.create({ id: 'one', provider: 'folders' })
  await first.close()
  const before = await (await inner.store.journal('one')).read()
  const other = dataFolder()
  const stranger = await openHost({ data: other, install: 'never' })
  onTestFinished(() => stranger.close())
  await stranger.create({ id: 'one', local: { isolation: 'none' }, labels: { of: 'another host' } })
  const second = await open(data, { providers: [{ ...provider, open: (id) => stranger.attach(id) }] })
  await expect(second.attach('one')).rejects.toMatchObject({
    code: 'journal_diverged',
    message: expect.stringContaining('The provider folders failed in `open`'),
  })
  const { events } = await (await second.store.journal('one')).read()
  expect(events.length).toBeGreaterThan(0)
  expect(events).toEqual(before.events.slice(0, events.length))
  await second.close()
  const third = await open(data, { providers: [provider] })
  expect((await (await third.attach('one')).exec('echo back')).stdout).toBe('back\n')
  rmSync(other, { recursive: true, force: true })
})

it('a host with a floor opens no sandbox without isolation, whoever provides it', async () => {
  const { provider, data } = await openProvider()
  const host = await open(data, { providers: [provider], floor: { isolation: 'bubblewrap' } })
  await expect(host.create({ provider: 'folders' })).rejects.toMatchObject({ code: 'below_floor' })
  expect(await host.list()).toEqual([])
})

it.each([
  [[{ name: 'mine' }], 'providers[0]: expected a provider'],
  [[{ name: 'two words', create() {}, open() {}, destroy() {} }], 'providers[0]: expected a provider'],
  [[local(), local()], 'providers: expected one provider of each name, got local twice.'],
])('openHost refuses the providers %o', async (providers, message) => {
  await expect(openHost({ data: dataFolder(), providers: providers as never })).rejects.toThrow(message)
})
