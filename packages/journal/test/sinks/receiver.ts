import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ReceivedRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type ReceiverResponse = (response: ServerResponse, index: number) => void

/** An HTTP server on loopback that records its requests. It is closed when the test ends. */
export async function receiver(answer: ReceiverResponse = (response) => void response.end()) {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    for await (const text of request) body += text
    requests.push({ method: request.method, url: request.url, headers: request.headers, body })
    answer(response, requests.length - 1)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, requests }
}
