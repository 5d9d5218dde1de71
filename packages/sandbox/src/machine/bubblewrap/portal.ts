import { type ChildProcess, spawn } from 'node:child_process'
import { Server, Socket } from 'node:net'
import { getSystemErrorMessage } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { inBackground } from '../../detach-child.ts'

interface PendingSocket {
  resolve(handle: unknown): void
  reject(error: VitrineError): void
  readonly port: number
}

/** Opens sockets in the sandbox's network namespace through `vitrine-machine portal`. */
export class Portal {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PendingSocket>()
  #orders = 0

  constructor(program: string, namespaces: readonly string[]) {
    this.#child = spawn(program, ['portal', '3', ...namespaces], {
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.on('error', () => this.#end())
    this.#child.once('exit', () => this.#end())
    this.#child.on('message', (message, handle) => this.#answered(message, handle))
    inBackground(this.#child)
  }

  async connect(port: number): Promise<Socket> {
    const handle = await this.#order('c', port)
    if (handle instanceof Socket) return handle
    throw new VitrineError('internal', `No socket came for port ${port}.`)
  }

  async listen(port: number): Promise<Server> {
    const handle = await this.#order('l', port)
    if (handle instanceof Server) return handle
    throw new VitrineError('internal', `No server came for port ${port}.`)
  }

  /** False once `vitrine-machine portal` has ended. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }

  #order(kind: 'c' | 'l', port: number): Promise<unknown> {
    this.#orders += 1
    const id = this.#orders
    const order = Buffer.alloc(8)
    order.write(kind)
    order.writeUInt16LE(port, 2)
    order.writeUInt32LE(id, 4)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, port })
      if (this.#child.stdin?.writable !== true || this.#child.exitCode !== null) this.#end()
      else this.#child.stdin.write(order)
    })
  }

  #answered(message: unknown, handle: unknown): void {
    const { id, errno } = answerOf(message)
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (waiting === undefined) return
    if (errno === undefined) waiting.resolve(handle)
    else waiting.reject(refusal(waiting.port, errno))
  }

  #end(): void {
    for (const { port, reject } of this.#waiting.values())
      reject(new VitrineError('port_unavailable', `Port ${port} cannot be reached: the sandbox has ended.`))
    this.#waiting.clear()
  }
}

function answerOf(message: unknown): { id: number; errno?: number } {
  if (typeof message !== 'object' || message === null) return { id: 0 }
  const id: unknown = Reflect.get(message, 'id')
  const errno: unknown = Reflect.get(message, 'errno')
  return { id: Number(id), ...(typeof errno === 'number' && { errno }) }
}

function refusal(port: number, errno: number): VitrineError {
  const why = getSystemErrorMessage(-errno) ?? `error ${errno}`
  return new VitrineError('port_unavailable', `Port ${port} of the sandbox: ${why}.`, {
    details: { port, errno },
  })
}
