import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server in a separate process; disposing it stops the process. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number
  readonly port: number
}

const startMs = 30_000
const pollMs = 5

/** Starts a server and waits until it is ready. */
export async function startServerProcess(
  [program = '', ...args]: readonly string[],
  { port, env = process.env, isReady }: StartOptions,
): Promise<ServerProcess> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'spawn')
  const stop = () => stopChild(child)
  const until = performance.now() + startMs
  while (!(await isReady())) {
    if (hasEnded(child)) throw new Error(`${program} exited before it listened.`)
    if (performance.now() > until) {
      await stop()
      throw new Error(`${program} did not listen within ${startMs} ms.`)
    }
    await sleep(pollMs)
  }
  return { pid: child.pid!, port, [Symbol.asyncDispose]: stop }
}

interface StartOptions {
  readonly port: number
  readonly env?: NodeJS.ProcessEnv
  isReady(): boolean | Promise<boolean>
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

/** Whether a server responds on the port, with any status. */
export async function responds(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    async (response) => {
      await response.arrayBuffer()
      return true
    },
    () => false,
  )
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
