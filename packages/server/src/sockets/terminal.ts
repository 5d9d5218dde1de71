import { type Process, type ProcessExit, type Sandbox, toVitrineError } from '@vitrine/protocol'
import type { processRoutes } from '@vitrine/protocol/http'
import type { SocketOf } from '../routing/call.ts'

type TerminalSocket = SocketOf<(typeof processRoutes)['openTerminal']>

/** Serves a process on a WebSocket: output as bytes, everything else as JSON. The process outlives the connection. */
export async function serveTerminal(
  socket: TerminalSocket,
  sandbox: Pick<Sandbox, 'processes'>,
  id: string,
): Promise<void> {
  try {
    const process = await sandbox.processes.attach(id)
    socket.send({ type: 'ready', processId: id })
    void handleMessages(socket, process)
    for await (const { data } of process.view({ signal: socket.closed })) {
      if (socket.closed.aborted) return
      socket.send(data)
    }
    if (socket.closed.aborted) return
    socket.send({ type: 'exit', ...facts(await process.exit) })
    socket.close()
  } catch (error) {
    const { message, code } = toVitrineError(error)
    socket.send({ type: 'error', message, code })
    socket.close(1011)
  }
}

function facts({ exitCode, signal, outcome }: ProcessExit) {
  return { exitCode, signal, outcome }
}

/** Handles messages one after the other, so that input after a resize sees the new size. */
async function handleMessages(socket: TerminalSocket, process: Process): Promise<void> {
  while (!socket.closed.aborted)
    try {
      const message = await socket.next()
      if (message === undefined) return
      await handleMessage(socket, process, message)
    } catch (error) {
      socket.send({ type: 'error', message: toVitrineError(error).message })
    }
}

async function handleMessage(
  socket: TerminalSocket,
  process: Process,
  message: NonNullable<Awaited<ReturnType<TerminalSocket['next']>>>,
): Promise<void> {
  if (message instanceof Uint8Array) return process.input(message)
  switch (message.type) {
    case 'input':
      return process.input(Buffer.from(message.data, message.encoding ?? 'utf8'))
    case 'resize':
      return process.resize(message.cols, message.rows)
    case 'close':
      return socket.close()
  }
}
