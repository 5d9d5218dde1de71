import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { createLocalSandbox, type LocalSandbox, local } from '@vitrine/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import type { ServedTools } from '../../src/tools/serve-tools.ts'
import { echo, send, serve } from './fixture.ts'

async function openSandbox(): Promise<LocalSandbox> {
  // Not below /tmp, because a sandbox has its own /tmp.
  const data = mkdtempSync(join('/var/tmp', 'vitrine-test-'))
  const sandbox = await createLocalSandbox({ provider: local({ data }) })
  onTestFinished(async () => {
    await sandbox.close()
    rmSync(data, { recursive: true, force: true })
  })
  return sandbox
}

/** The output of a program inside that calls a tool with this token. */
async function heardInside(sandbox: LocalSandbox, to: ServedTools, token: string): Promise<string> {
  const { host, port } = new URL(to.url)
  const params = { name: 'echo', arguments: { text: 'from inside' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const request =
    `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf %s "$0" >&3; cat <&3`
  return (await sandbox.exec(['bash', '-c', script, request])).stdout
}

it('the tool server is reachable from inside a sandbox, and only on its loopback', async () => {
  const sandbox = await openSandbox()
  const to = await serve([echo], { listen: (port) => sandbox.listen(port) })
  expect(await heardInside(sandbox, to, to.token)).toContain('"text":"from inside"')
  expect(await heardInside(sandbox, to, 'wrong')).toMatch(/^HTTP\/1\.1 401 /)
  if (sandbox.capabilities.isolation === 'namespaces')
    await expect(send(to)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await to.close()
  expect(await heardInside(sandbox, to, to.token)).toBe('')
})

it('uses another port when one is in use inside the sandbox', async () => {
  const sandbox = await openSandbox()
  const taken: Server[] = []
  onTestFinished(() => taken.forEach((server) => void server.close()))
  const to = await serve([echo], {
    listen: async (port) => {
      if (taken.length === 0) taken.push(await sandbox.listen(port))
      return sandbox.listen(port)
    },
  })
  expect(await heardInside(sandbox, to, to.token)).toContain('"text":"from inside"')
})
