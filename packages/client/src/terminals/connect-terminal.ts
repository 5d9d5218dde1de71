import { fromProblem, type ProcessExit, VitrineError } from '@vitrine/protocol'
import type { ObserverErrors } from '@vitrine/protocol/primitives'
import { pathOf } from '../http/address.ts'
import { toBase64 } from '../http/base64.ts'
import { connectionFailed } from '../http/failures.ts'
import type { HttpClient } from '../http/http-client.ts'
import { Listeners } from './listeners.ts'

/** The terminal of a process. Each `on…` method returns a function that removes the listener, whose errors go to `onObserverError`. */
export interface RemoteTerminal {
  /** Resolves when input can be sent. Rejects when the terminal cannot be opened. */
  readonly ready: Promise<void>
  onData(listener: (data: Uint8Array) => void): () => void
  /** Called when the process has ended; a listener that is added later is called at once. */
  onExit(listener: (exit: ProcessExit) => void): () => void
  /** Called when the connection is lost or the server reports an error. The process keeps running. */
  onError(listener: (error: VitrineError) => void): () => void
  send(data: string | Uint8Array): void
  resize(cols: number, rows: number): void
  /** Closes the connection; the process keeps running. */
  close(): void
}

interface TerminalMessage extends Partial<ProcessExit> {
  readonly type: 'ready' | 'exit' | 'error'
  readonly code?: string
  readonly message?: string
}

/** Connects to the terminal of a process. `http` is scoped to the sandbox. */
export function connectTerminal(
  http: HttpClient,
  process: string,
  observerErrors: ObserverErrors,
): RemoteTerminal {
  const path = pathOf([...http.parts, 'processes', process, 'terminal', 'ws'])
  const socket = new WebSocket(`${http.url.replace(/^http/, 'ws')}${path}`, protocolsOf(http))
  socket.binaryType = 'arraybuffer'
  const reporting = (observer: string) => (error: unknown) => observerErrors.report(observer, error)
  const data = new Listeners<Uint8Array>(reporting('terminal.onData'))
  const exits = new Listeners<ProcessExit>(reporting('terminal.onExit'), 'replay')
  const errors = new Listeners<VitrineError>(reporting('terminal.onError'))
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
    ready.reject(new VitrineError('cancelled', 'The terminal was closed by its client.'))
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
    if (!isClosed && !hasExited)
      fail(connectionFailed(`${path}: the terminal's connection was lost (WebSocket code ${code}).`))
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

/** Browsers cannot send headers with a WebSocket, so the token is sent as a subprotocol. */
function protocolsOf({ token }: HttpClient): string[] {
  return token === undefined ? ['vitrine'] : ['vitrine', `vitrine.token.${token}`]
}
