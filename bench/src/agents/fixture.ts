import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type ClientContext, client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { type HostSandbox, openHost } from '@vitrine/host'
import { abortable } from '../abortable.ts'
import { inScratch } from '../scratch.ts'

const script = fileURLToPath(new URL('./trivial-agent.ts', import.meta.url))
const command = [process.execPath, '--disable-warning=ExperimentalWarning', script]

/** Runs the trivial agent in a sandbox of a host with a journal on disk. */
export async function withHost<T>(
  signal: AbortSignal,
  run: (sandbox: HostSandbox, data: string) => Promise<T>,
): Promise<T> {
  return inScratch(async (data) => {
    // The agent may run as another user, who has to enter this directory.
    chmodSync(data, 0o711)
    const host = await openHost({ data, agents: [{ name: 'trivial', command }], install: 'never' })
    try {
      return await abortable(signal, run(await host.create({ local: { isolation: 'none' } }), data))
    } finally {
      await host.close()
    }
  })
}

/** Runs the same agent with only the ACP SDK. */
export async function withBareSdk<T>(
  signal: AbortSignal,
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
    const result = app.connectWith(stream, async (context: ClientContext) => {
      await context.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
      const { sessionId } = await context.request(methods.agent.session.new, { cwd: '/', mcpServers: [] })
      const prompt = (text: string) =>
        context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })
      return run(prompt, agent)
    })
    return await abortable(signal, result)
  } finally {
    agent.kill()
  }
}
