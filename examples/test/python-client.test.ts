import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openDaemon } from '../../packages/server/test/daemon.ts'

const client = fileURLToPath(new URL('../python-client/client.py', import.meta.url))

async function run(env: Readonly<Record<string, string>>, prompt: string) {
  const { PATH = '' } = process.env
  const child = spawn('/usr/bin/python3', [client, prompt], { env: { PATH, ...env } })
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await closed
  return { status, stdout, stderr }
}

it('a client in Python prints what an agent says and allows what it asks for', async () => {
  const daemon = await openDaemon()
  onTestFinished(() => daemon.close())
  const env = { VITRINE_URL: daemon.url, VITRINE_TOKEN: daemon.token }
  const { status, stdout, stderr } = await run(env, '/say Hello from Python.\n/write note.txt hi')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('Hello from Python.')
  expect(stdout).toContain('created note.txt')
  expect(stdout).toMatch(/\nThe turn ended: ok\n$/)
  const refused = await run({ ...env, VITRINE_TOKEN: 'wrong' }, 'hello')
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('POST /sandboxes: token_invalid: The token is not known to this daemon.')
})
