import type { HostSandbox } from '@vitrine/host'
import { type Process, toVitrineError } from '@vitrine/protocol'
import type { WebSocket } from 'ws'
import type { SocketInbox, SocketMessage } from './inbox.ts'

/** Bytes that may be queued for a client or for a process that does not read, before the connection is closed. */
export const maxQueuedBytes = 4 * 1024 * 1024

type TerminalMessage =
  | { readonly type: 'input'; readonly data: string; readonly encoding?: string }
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'close' }

/** Serves a process on a WebSocket: output as bytes, everything else as JSON. The process outlives the connection. */
export async function serveTerminal(
  socket: WebSocket,
  inbox: SocketInbox,
  sandbox: HostSandbox,
  id: string,
): Promise<void> {
  const closed = new AbortController()
  socket.once('close', () => closed.abort())
  const sendJson = (message: object) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
  }
  try {
    const process = await sandbox.processes.attach(id)
    sendJson({ type: 'ready', processId: id })
    void handleMessages(inbox, process, {
      close: () => socket.close(1000),
      fail: (error) => sendJson({ type: 'error', message: toVitrineError(error).message }),
    })
    for await (const { data } of process.view({ signal: closed.signal })) {
      if (socket.readyState !== socket.OPEN) return
      socket.send(data)
      if (socket.bufferedAmount > maxQueuedBytes) return socket.close(1013, 'not read')
    }
    if (closed.signal.aborted) return
    const { exitCode, signal, outcome } = await process.exit
    sendJson({ type: 'exit', exitCode, signal, outcome })
    socket.close(1000)
  } catch (error) {
    const { message, code } = toVitrineError(error)
    sendJson({ type: 'error', message, code })
    socket.close(1011)
  }
}

/** Handles messages one after the other, so that input after a resize sees the new size. */
async function handleMessages(
  inbox: SocketInbox,
  process: Process,
  { close, fail }: { close(): void; fail(error: unknown): void },
): Promise<void> {
  for (let message = await inbox.next(); message !== undefined; message = await inbox.next())
    await handleMessage(process, message, close).catch(fail)
}

async function handleMessage(
  process: Process,
  { data, isBinary }: SocketMessage,
  close: () => void,
): Promise<void> {
  if (isBinary) return process.input(data)
  const message = parseMessage(data)
  switch (message?.type) {
    case 'input':
      return process.input(Buffer.from(message.data, message.encoding === 'base64' ? 'base64' : 'utf8'))
    case 'resize':
      return process.resize(message.cols, message.rows)
    case 'close':
      return close()
    default:
      throw new TypeError('Expected {type: "input", data}, {type: "resize", cols, rows} or {type: "close"}.')
  }
}

function parseMessage(data: Buffer): TerminalMessage | undefined {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'))
    if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
    const { type, data: text, cols, rows, encoding } = value as Record<string, unknown>
    if (type === 'input' && typeof text === 'string')
      return { type, data: text, ...(typeof encoding === 'string' && { encoding }) }
    if (type === 'resize' && typeof cols === 'number' && typeof rows === 'number') return { type, cols, rows }
    return type === 'close' ? { type } : undefined
  } catch {
    return undefined
  }
}
