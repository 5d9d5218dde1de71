import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isGap } from '@vitrine/protocol'
import { afterEach, expect, it } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function serve(answer: string): Promise<number> {
  const server = createServer((_request, response) => response.end(answer))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const request = (port: number) =>
  `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`

it('allowEgress adds targets for a running sandbox without network', async () => {
  const sandbox = await openSandbox({ isolation: 'bubblewrap' })
  const [first, second, third] = [await serve('first'), await serve('second'), await serve('third')]
  const reached = async (port: number) =>
    (await sandbox.exec(request(port), { shell: ['bash', '-c'] })).stdout
  expect(await reached(first)).toBe('')
  await sandbox.allowEgress([`127.0.0.1:${first}`])
  expect(await reached(first)).toContain('first')
  await Promise.all([
    sandbox.allowEgress([`127.0.0.1:${second}`]),
    sandbox.allowEgress([`127.0.0.1:${second}`, `127.0.0.1:${first}`]),
  ])
  expect(await reached(second)).toContain('second')
  expect(await reached(third)).toBe('')
  const { events } = await sandbox.journal.read({ types: ['operation.started'] })
  const opened = events.filter((event) => !isGap(event) && event.data.op === 'open_network')
  expect(opened.length).toBeGreaterThanOrEqual(2)
})

it('allowEgress gives commands the proxy variables once a listed host needs the proxy', async () => {
  const sandbox = await openSandbox({ isolation: 'bubblewrap' })
  expect((await sandbox.exec('echo "$HTTPS_PROXY"')).stdout).toBe('\n')
  await sandbox.allowEgress(['model.example:443'])
  expect((await sandbox.exec('echo "$HTTPS_PROXY"')).stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/)
  await sandbox.allowEgress(['other.example:443'])
  await expect(sandbox.allowEgress(['no port'])).rejects.toMatchObject({ code: 'argument_invalid' })
})

it("allowEgress does nothing on the host's network", async () => {
  const sandbox = await openSandbox({ isolation: 'none' })
  await sandbox.allowEgress(['model.example:443'])
})
