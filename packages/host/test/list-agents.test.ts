import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentFolders } from '@vitrine/agents'
import { expect, it } from 'vitest'
import { listAgents } from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'

it('lists the agents of a running host', async () => {
  const data = dataFolder()
  writeFileSync(join(data, 'agents.json'), '{"mine":{"command":"a"}}')
  const host = await open(data)
  expect(await listAgents({ data })).toEqual(await host.listAgents())
  expect((await listAgents({ data, agents: [{ name: 'coded', command: 'b' }] }))[0]?.name).toBe('coded')
})

it('creates no data directory', async () => {
  const data = join(dataFolder(), 'none')
  expect((await listAgents({ data })).length).toBeGreaterThan(0)
  expect(existsSync(data)).toBe(false)
})

it('mounts Node into a sandbox, and not the files beside it', () => {
  const folder = dataFolder()
  const node = join(folder, 'bin', 'node')
  mkdirSync(dirname(node))
  writeFileSync(node, '')
  const cache = join(folder, 'agents')
  const places = agentFolders({ cache, node })
  expect(places).toEqual(expect.arrayContaining([cache, node]))
  expect(places).not.toContain(dirname(node))
  for (const place of places.filter((path) => !path.startsWith(folder))) {
    expect(realpathSync(place)).toBe(place)
    expect(existsSync(join(place, 'package.json'))).toBe(true)
  }
  expect(places.some((place) => place.endsWith('/node_modules/zod'))).toBe(true)
})
