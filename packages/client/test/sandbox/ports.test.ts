import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'

const address = { host: '127.0.0.1', port: 41_000, url: 'http://127.0.0.1:41000' }
const made = { url: 'http://abc.localhost:2468/', path: '/preview/abc/', token: 'abc' }

const sceneAt = async (url: string) =>
  newScene(() => undefined, {
    url,
    fetch: async (given) => Response.json(String(given).endsWith('/preview') ? made : address),
  })

it.each(['http://127.0.0.1:2468', 'http://localhost:2468', 'http://[::1]:2468'])(
  'resolve and waitFor return the address as it is from a daemon at %s',
  async (url) => {
    const { sandbox } = await sceneAt(url)
    expect(await sandbox.ports.resolve(3000)).toEqual(address)
    expect(await sandbox.ports.waitFor(3000)).toEqual(address)
  },
)

it('resolve and waitFor say that the address is of another machine', async () => {
  const { sandbox } = await sceneAt('https://daemon.example/behind')
  expect(await sandbox.ports.resolve(3000)).toEqual({ ...address, otherMachine: true })
  expect(await sandbox.ports.waitFor(3000)).toEqual({ ...address, otherMachine: true })
})

it('preview returns an address below that of the daemon', async () => {
  const { sandbox } = await sceneAt('https://daemon.example/behind')
  expect(await sandbox.ports.preview(3000)).toEqual({
    url: 'https://daemon.example/behind/preview/abc/',
    ownOriginUrl: made.url,
  })
})
