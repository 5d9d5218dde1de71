import { type ChildProcess, spawn } from 'node:child_process'
import { Server, Socket } from 'node:net'
// Not by name, see `node/require.ts` of the protocol: Node 20 lacks the function.
import * as util from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { detachChild } from '../../detach-child.ts'

interface PendingSocket {
  resolve(handle: unknown): void
  reject(error: VitrineError): void
  readonly port: number
}

/** Opens sockets in the sandbox's network namespace through `vitrine-machine portal`. */
export class Portal {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, PendingSocket>()
  #lastId = 0

  constructor(program: string, namespaces: readonly string[]) {
    this.#child = spawn(program, ['portal', '3', ...namespaces], {
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.on('error', () => this.#end())
    this.#child.once('exit', () => this.#end())
    this.#child.on('message', (message, handle) => this.#onMessage(message, handle))
    detachChild(this.#child)
  }

  async connect(port: number): Promise<Socket> {
    const handle = await this.#request('c', port)
    if (handle instanceof Socket) return handle
    throw new VitrineError('internal', `vitrine-machine sent no socket for port ${port}.`)
  }

  async listen(port: number): Promise<Server> {
    const handle = await this.#request('l', port)
    if (handle instanceof Server) return handle
    throw new VitrineError('internal', `vitrine-machine sent no server for port ${port}.`)
  }

  /** False once `vitrine-machine portal` has ended. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }

  #request(kind: 'c' | 'l', port: number): Promise<unknown> {
    this.#lastId += 1
    const id = this.#lastId
    const request = Buffer.alloc(8)
    request.write(kind)
    request.writeUInt16LE(port, 2)
    request.writeUInt32LE(id, 4)
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, port })
      if (this.#child.stdin?.writable !== true || this.#child.exitCode !== null) this.#end()
      else this.#child.stdin.write(request)
    })
  }

  #onMessage(message: unknown, handle: unknown): void {
    const { id, errno } = parseReply(message)
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (pending === undefined) return
    if (errno === undefined) pending.resolve(handle)
    else pending.reject(refusal(pending.port, errno))
  }

  #end(): void {
    for (const { port, reject } of this.#pending.values())
      reject(new VitrineError('port_unavailable', `Port ${port} cannot be reached: the sandbox has stopped.`))
    this.#pending.clear()
  }
}

function parseReply(message: unknown): { id: number; errno?: number } {
  if (typeof message !== 'object' || message === null) return { id: 0 }
  const id: unknown = Reflect.get(message, 'id')
  const errno: unknown = Reflect.get(message, 'errno')
  return { id: Number(id), ...(typeof errno === 'number' && { errno }) }
}

function refusal(port: number, errno: number): VitrineError {
  const why = util.getSystemErrorMessage(-errno) ?? `error ${errno}`
  return new VitrineError('port_unavailable', `Port ${port} of the sandbox: ${why}.`, {
    details: { port, errno },
  })
}
