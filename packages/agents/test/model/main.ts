// The model as a program: `node main.ts --port 18080` prints {"url":"http://127.0.0.1:18080"} and runs until it is ended.
// GET /requests returns the recorded requests.
import { parseArgs } from 'node:util'
import { startModelServer } from './server.ts'

const { values } = parseArgs({ options: { port: { type: 'string' }, host: { type: 'string' } } })
const server = await startModelServer({
  port: Number(values.port ?? 0),
  ...(values.host && { host: values.host }),
})
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close())
