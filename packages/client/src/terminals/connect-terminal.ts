import { fromProblem, type ProcessExit, VitrineError } from '@vitrine/protocol'
import { pathOf } from '../http/address.ts'
import { toBase64 } from '../http/base64.ts'
import { connectionFailed } from '../http/failures.ts'
import type { HttpClient } from '../http/http-client.ts'
import { Listeners } from './listeners.ts'

/** The terminal of a process: what it shows, and what is typed. Each `on…` returns how to stop listening. */
export interface RemoteTerminal {
  /** Once something can be typed. Rejects when the terminal cannot be had. */
  readonly ready: Promise<void>
  onData(listener: (data: Uint8Array) => void): () => void
  /** The process has ended; who comes late is told at once. */
  onExit(listener: (exit: ProcessExit) => void): () => void
  /** The connection was lost, or the server refused something. The process goes on. */
  onError(listener: (error: VitrineError) => void): () => void
  send(data: string | Uint8Array): void
  resize(cols: number, rows: number): void
  /** Leaves the terminal; the process goes on. */
  close(): void
}

interface TerminalMessage extends Partial<ProcessExit> {
  readonly type: 'ready' | 'exit' | 'error'
  readonly code?: string
  readonly message?: string
}

/** The wire is at the sandbox. */
export function connectTerminal(http: HttpClient, process: string): RemoteTerminal {
  const path = pathOf([...http.parts, 'processes', process, 'terminal', 'ws'])
  const socket = new WebSocket(`${http.url.replace(/^http/, 'ws')}${path}`, protocolsOf(http))
  socket.binaryType = 'arraybuffer'
  const data = new Listeners<Uint8Array>()
  const exits = new Listeners<ProcessExit>('keep')
  const errors = new Listeners<VitrineError>()
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => undefined)
  let isClosed = false
  let hasExited = false

  const fail = (error: VitrineError) => {
    ready.reject(error)
    errors.emit(error)
  }
  const close = () => {
    isClosed = true
    http.closing.removeEventListener('abort', close)
    ready.reject(new VitrineError('cancelled', 'The terminal was left.'))
    if (socket.readyState === WebSocket.OPEN) sendJson({ type: 'close' })
    socket.close()
  }
  const onMessage = (text: string) => {
    const message = JSON.parse(text) as TerminalMessage
    if (message.type === 'ready') ready.resolve()
    else if (message.type === 'error')
      fail(fromProblem({ code: message.code ?? 'internal', detail: message.message }))
    else {
      hasExited = true
      const { outcome = 'ok', exitCode = null, signal = null } = message
      exits.emit({ outcome, exitCode, signal })
    }
  }
  const sendJson = (message: object) => {
    if (socket.readyState !== WebSocket.OPEN)
      throw new VitrineError('input_closed', `The terminal of process ${process} is not connected.`)
    socket.send(JSON.stringify(message))
  }

  socket.addEventListener('message', (event) => {
    const message: string | ArrayBuffer = event.data
    if (typeof message === 'string') onMessage(message)
    else data.emit(new Uint8Array(message))
  })
  socket.addEventListener('close', ({ code }) => {
    http.closing.removeEventListener('abort', close)
    if (!isClosed && !hasExited) fail(connectionFailed(`The terminal ${path} was cut (${code}).`))
  })
  http.closing.addEventListener('abort', close)

  return {
    ready: ready.promise,
    onData: (listener) => data.add(listener),
    onExit: (listener) => exits.add(listener),
    onError: (listener) => errors.add(listener),
    send(input) {
      sendJson(
        typeof input === 'string'
          ? { type: 'input', data: input }
          : { type: 'input', data: toBase64(input), encoding: 'base64' },
      )
    },
    resize: (cols, rows) => sendJson({ type: 'resize', cols, rows }),
    close,
  }
}

/** Browsers let a page send no headers with a WebSocket: the token goes as a protocol. */
function protocolsOf({ token }: HttpClient): string[] {
  return token === undefined ? ['vitrine'] : ['vitrine', `vitrine.token.${token}`]
}
