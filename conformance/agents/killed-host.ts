import { openHost } from '@vitrine/host'
import { agentCache, modelKey } from './environment.ts'

// A host that the test kills: node killed-host.ts <data> <isolation> <agent> <url of the model> [mode]
const [data = '', isolation = 'none', agent = '', url = '', mode] = process.argv.slice(2)
const host = await openHost({ data, agentCache, install: 'never' })
const sandbox = await host.create({
  id: `killed-${agent}-${isolation}`,
  local: { isolation: isolation === 'bubblewrap' ? 'bubblewrap' : 'none' },
})
const session = await sandbox.openSession({
  id: 'talk',
  agent,
  modelEndpoint: { url, key: modelKey },
  ...(mode !== undefined && { mode }),
})
await session.prompt('say:pomegranate')
process.stdout.write(`${sandbox.id}\n`)
