import { expect, it } from 'vitest'
import { start } from '../../src/node/index.ts'

const node = (script: string) => [process.execPath, '-e', script, '--']

const serving = `
  const { createServer } = require('node:http')
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ status: 'ok', version: [process.pid, process.env.OWN, ...process.argv.slice(1)].join(' ') }))
  })
  server.listen(0, '127.0.0.1', () => {
    console.log(JSON.stringify({ url: 'http://127.0.0.1:' + server.address().port, token: 'secret' }))
    console.log('x'.repeat(200_000))
  })`

it('starts a daemon that ends with the client', async () => {
  const client = await start({ command: node(serving), data: '/data', root: '/root', env: { OWN: 'yes' } })
  const { version } = await client.health()
  const [pid, ...rest] = version.split(' ')
  expect(rest).toEqual(['yes', '--json', '--data', '/data', '--root', '/root'])
  expect(client.inspectorUrl).toContain('#token=secret')
  await client.close()
  await client.close()
  expect(() => process.kill(Number(pid), 0)).toThrow()
})

it('reports the stderr of a daemon that does not start', async () => {
  const command = node('console.error("no such option"); process.exit(3)')
  await expect(start({ command })).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringMatching(/exited with 3[\s\S]*no such option/),
  })
  await expect(start({ command: ['/no/such/program'] })).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('ENOENT'),
  })
  await expect(start({ command: node('console.log("hello")') })).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('hello'),
  })
})

it('throws when its signal cancels the start', async () => {
  const command = node('setInterval(() => {}, 1000)')
  await expect(start({ command, signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
    code: 'cancelled',
  })
})
