import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const partBytes = 256 * 1024

/** A raw connection that reads into one reused buffer, so that the client adds little to the measurement. */
export async function openConnection(port: number, onBytes: (bytes: Buffer) => void): Promise<Socket> {
  let memory: Buffer | undefined
  const socket = connect({
    port,
    host: '127.0.0.1',
    onread: {
      // Allocated on the first read, so a refused connection allocates nothing.
      buffer() {
        memory ??= Buffer.allocUnsafe(partBytes)
        return memory
      },
      callback(count, buffer) {
        onBytes(Buffer.from(buffer.buffer, buffer.byteOffset, count))
        return true
      },
    },
  })
  await once(socket, 'connect')
  socket.setNoDelay(true)
  return socket
}

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The request line and headers. */
export function requestHead({ method, path, headers = {} }: RawRequest): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}
