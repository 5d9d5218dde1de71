import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHost } from '@vitrine/host'
import { type Route, routes } from '@vitrine/protocol/http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createServer } from '../../src/index.ts'

const token = 'full-token-8d1f0c6b72a94e53'
const headers = { authorization: `Bearer ${token}` }

// Not the daemon of the other tests: its `fetch` checks responses, which creates their schemas.
async function newServer() {
  const data = mkdtempSync(join(tmpdir(), 'vitrine-lazy-'))
  const host = await openHost({ data, install: 'never' })
  const server = createServer({ host, tokens: [{ name: 'alice', token, access: 'full' }] })
  onTestFinished(async () => {
    server.close()
    await host.close()
    rmSync(data, { recursive: true, force: true })
  })
  const get = (path: string) => server.fetch(new Request(`http://localhost${path}`, { headers }))
  return { host, get }
}

/** The schemas of routes that exist. */
function created(): string[] {
  return Object.entries<Route>(routes).flatMap(([name, route]) =>
    Object.entries(Object.getOwnPropertyDescriptors(route))
      .filter(([, { value }]) => typeof value === 'object' && value !== null && '_zod' in value)
      .map(([field]) => `${name}.${field}`),
  )
}

it('creates the schemas of a route when a request needs them, so that a daemon starts fast', async () => {
  const { get } = await newServer()
  expect((await get('/v1/health')).status).toBe(200)
  expect(created()).toEqual([])
  expect((await get('/v1/events')).status).toBe(200)
  expect(created()).toEqual(['readEvents.query'])
})

it('does not look for the default sandbox for a request that needs none', async () => {
  const { host, get } = await newServer()
  const [list, one] = [vi.spyOn(host, 'infos'), vi.spyOn(host, 'info')]
  expect((await get('/v1/health')).status).toBe(200)
  expect(list).not.toHaveBeenCalled()
  expect(one).not.toHaveBeenCalled()
})
