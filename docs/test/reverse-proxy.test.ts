import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from '@vitrine/client'
import { expect, it } from 'vitest'
import { eventually } from '../../conformance/src/waiting/within.ts'
import { openDaemon } from '../../packages/server/test/daemon.ts'

/** The nginx configuration of the page, for a port without TLS that leads to a daemon. */
function configuration(port: number, daemon: number, folder: string): string {
  const page = readFileSync(new URL('../cookbook/reverse-proxy.md', import.meta.url), 'utf8')
  const [, servers = ''] = /```nginx\n([\s\S]*?)```/.exec(page) ?? []
  const plain = servers
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replaceAll(/^ *ssl_.*\n/gm, '')
    .replace('127.0.0.1:2468', `127.0.0.1:${daemon}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off; pid ${folder}/pid; error_log stderr;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  ${plain}
}`
}

/** The status of a request with another Host header, which `fetch` does not send. */
async function statusFor(host: string, port: number, token: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${token}` }
  const [response] = await once(get({ host: '127.0.0.1', port, path: '/v1/health', headers }), 'response')
  response.resume()
  return response.statusCode
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

it('nginx, configured as the page says, passes host names, streams, terminals, uploads and previews', async () => {
  await using open = new AsyncDisposableStack()
  const folder = mkdtempSync('/var/tmp/vitrine-nginx-')
  open.defer(() => rmSync(folder, { recursive: true, force: true }))
  const daemon = open.use(await openDaemon({ allowHosts: ['vitrine.example'] }))
  const port = await freePort()
  writeFileSync(join(folder, 'nginx.conf'), configuration(port, daemon.port, folder))
  const nginx = spawn('/usr/sbin/nginx', ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  open.defer(async () => {
    nginx.kill()
    if (nginx.exitCode === null) await once(nginx, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await eventually('nginx', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true)

  expect(await statusFor('vitrine.example', port, daemon.token)).toBe(200)
  expect(await statusFor('other.example', port, daemon.token)).toBe(421)

  await using client = connect({ url, token: daemon.token })
  const sandbox = await client.attach(daemon.sandbox)

  const session = await sandbox.openSession({ agent: 'demo', permissions: 'allow' })
  const types: string[] = []
  // The turn waits until the stream is read: a buffered stream would never end.
  for await (const piece of session.stream('/say streamed\n/stall')) {
    types.push(piece.type)
    if (piece.type === 'text') await session.cancel()
  }
  expect(types).toEqual(expect.arrayContaining(['text', 'end']))

  const shell = await sandbox.spawn(['sh'], { tty: { cols: 80, rows: 24 } })
  const terminal = sandbox.openTerminal(shell.id)
  await terminal.ready
  terminal.send('exit 5\n')
  expect(await new Promise((resolve) => terminal.onExit(resolve))).toMatchObject({ exitCode: 5 })

  const large = new Uint8Array(2 * 1024 * 1024).fill(7) // nginx refuses more than 1 MiB by default
  await sandbox.files.write('large.bin', large)
  expect((await sandbox.files.stat('large.bin')).size).toBe(large.byteLength)

  await sandbox.spawn(['python3', '-m', 'http.server', '18950', '--bind', '127.0.0.1'])
  await sandbox.ports.waitFor(18_950)
  const preview = await sandbox.ports.preview(18_950)
  expect(preview.url.startsWith(url)).toBe(true)
  expect((await fetch(preview.url)).status).toBe(200)
})
