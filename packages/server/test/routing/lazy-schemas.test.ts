import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openHost } from '@vitrine/host'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createServer } from '../../src/index.ts'

const token = 'full-token-8d1f0c6b72a94e53'
const headers = { authorization: `Bearer ${token}` }

function dataFolder(): string {
  const data = mkdtempSync(join(tmpdir(), 'vitrine-lazy-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}

it('creates the schemas of a route when a request needs them, so that a daemon starts fast', async () => {
  // A process of its own: the tests of a worker share the route table.
  const program = fileURLToPath(new URL('../fixtures/created-schemas.ts', import.meta.url))
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, dataFolder()])
  expect(JSON.parse(stdout)).toEqual({ afterHealth: [], afterEvents: ['readEvents.query'] })
})

it('does not look for the default sandbox for a request that needs none', async () => {
  const host = await openHost({ data: dataFolder(), install: 'never' })
  const server = createServer({ host, tokens: [{ name: 'alice', token, access: 'full' }] })
  onTestFinished(async () => {
    server.close()
    await host.close()
  })
  const [list, one] = [vi.spyOn(host, 'infos'), vi.spyOn(host, 'info')]
  expect((await server.fetch(new Request('http://localhost/v1/health', { headers }))).status).toBe(200)
  expect(list).not.toHaveBeenCalled()
  expect(one).not.toHaveBeenCalled()
})
