import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type ClientContext, client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { type HostSandbox, openHost } from '@vitrine/host'

const script = fileURLToPath(new URL('./trivial-agent.ts', import.meta.url))
const command = [process.execPath, '--disable-warning=ExperimentalWarning', script]

/** The trivial agent in a sandbox of a host with a journal on disk. */
export async function inHost<T>(run: (sandbox: HostSandbox) => Promise<T>): Promise<T> {
  const data = mkdtempSync('/var/tmp/vitrine-bench-')
  chmodSync(data, 0o711)
  const host = await openHost({ data, agents: [{ name: 'trivial', command }], install: 'never' })
  try {
    return await run(await host.create({ local: { isolation: 'none' } }))
  } finally {
    await host.close()
    rmSync(data, { recursive: true, force: true })
  }
}

/** The same agent as the protocol's own SDK talks with it, and nothing else. */
export async function bare<T>(
  onUpdate: () => void,
  run: (prompt: (text: string) => Promise<unknown>, agent: ChildProcess) => Promise<T>,
): Promise<T> {
  const [program = '', ...args] = command
  const agent = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const stream = ndJsonStream(
    Writable.toWeb(agent.stdin),
    Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>,
  )
  const app = client({ name: 'bench' }).onNotification(methods.client.session.update, onUpdate)
  try {
    return await app.connectWith(stream, async (context: ClientContext) => {
      await context.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
      const { sessionId } = await context.request(methods.agent.session.new, { cwd: '/', mcpServers: [] })
      const prompt = (text: string) =>
        context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })
      return run(prompt, agent)
    })
  } finally {
    agent.kill()
  }
}
