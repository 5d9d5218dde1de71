import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'

function folder(): string {
  const path = mkdtempSync(join('/var/tmp', 'vitrine-bind-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

it('reaches a service of the host through a bound unix socket without any network', async () => {
  const outside = folder()
  const path = join(outside, 'tools.sock')
  const server = createServer((_, response) => response.end('a tool of the host')).listen(path)
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  // Connecting requires write permission on the socket, and the sandbox's user is not its owner.
  chmodSync(path, 0o666)
  const sandbox = await openSandbox({
    isolation: 'bubblewrap',
    binds: [{ source: path, target: '/run/tools.sock', writable: true }],
  })
  const { stdout } = await sandbox.exec('curl -s --unix-socket /run/tools.sock http://tools/')
  expect(stdout).toBe('a tool of the host')
})

it('mounts a folder of the host read-only by default', async () => {
  const outside = folder()
  writeFileSync(join(outside, 'model.bin'), 'weights', { mode: 0o644 })
  chmodSync(outside, 0o777)
  const sandbox = await openSandbox({
    isolation: 'bubblewrap',
    binds: [
      { source: outside, target: '/opt-models' },
      { source: outside, target: '/scratch', writable: true },
    ],
  })
  expect((await sandbox.exec('cat /opt-models/model.bin')).stdout).toBe('weights')
  expect((await sandbox.exec('touch /opt-models/x')).outcome).toBe('failed')
  expect((await sandbox.exec('touch /scratch/x')).outcome).toBe('ok')
})
