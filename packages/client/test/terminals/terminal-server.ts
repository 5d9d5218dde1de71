import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface TerminalServer {
  readonly url: string
  readonly received: unknown[]
  readonly request: IncomingMessage | undefined
  say(message: object | Uint8Array): void
  cut(): void
}

/** As much of the WebSocket protocol as short frames need. */
export async function terminalServer(): Promise<TerminalServer> {
  const heard: unknown[] = []
  let socket: Socket | undefined
  let request: IncomingMessage | undefined
  const server = createServer()
  server.on('upgrade', (incoming, connected: Socket) => {
    socket = connected
    request = incoming
    const accept = createHash('sha1')
      .update(`${incoming.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    connected.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: vitrine\r\n\r\n`,
    )
    connected.on('data', (data) => heard.push(...messagesIn(data))).on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    socket?.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: heard,
    get request() {
      return request
    },
    say(message) {
      const isBytes = message instanceof Uint8Array
      const data = isBytes ? message : Buffer.from(JSON.stringify(message))
      socket?.write(Buffer.concat([Buffer.from([isBytes ? 0x82 : 0x81, data.length]), data]))
    },
    cut: () => socket?.destroy(),
  }
}

function messagesIn(data: Buffer): unknown[] {
  const messages: unknown[] = []
  for (let at = 0; at + 6 <= data.length; ) {
    const length = data[at + 1]! & 0x7f
    const mask = data.subarray(at + 2, at + 6)
    const text = data.subarray(at + 6, at + 6 + length).map((byte, index) => byte ^ mask[index % 4]!)
    if (data[at] === 0x81) messages.push(JSON.parse(Buffer.from(text).toString()))
    at += 6 + length
  }
  return messages
}
