/** The server behind a preview: Node runs it in the sandbox, with the port as its argument. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'

const [, , port, name = 'site'] = process.argv
const seen: { line: string; headers: IncomingMessage['headers'] }[] = []
const halves: ServerResponse[] = []
let gone = 0
let given = 0

const pages: Record<
  string,
  (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => void
> = {
  '/seen': (_, response) => json(response, { seen, gone, given }),
  '/hang': () => undefined,
  '/deaf': (request) => void request.pause(),
  '/redirect': (_, response, query) => response.writeHead(302, { location: query.get('to')! }).end(),
  '/status': (_, response, query) => response.writeHead(Number(query.get('code'))).end('words'),
  '/reset': (_, response) => response.writeHead(205, { 'content-length': 5 }).end('words'),
  '/odd-names': (_, response) => response.writeHead(200, { constructor: 'x', tostring: 'y' }).end('ok'),
  '/switch': (request) =>
    void request.socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: Upgrade\r\n\r\n'),
  '/grabby': (_, response) =>
    response
      .writeHead(200, {
        'content-type': 'text/html',
        'set-cookie': ['a=1; Path=/', 'b=2; Path=/; Domain=localhost'],
        'content-security-policy': "object-src 'none'",
        'clear-site-data': '"*"',
        'service-worker-allowed': '/',
        'access-control-allow-origin': '*',
        connection: 'x-of-this-connection, close',
        'x-of-this-connection': 'mine',
        'keep-alive': 'timeout=99',
        'x-own': 'kept',
      })
      .end('<script>document.title = origin</script>'),
  '/half': (_, response, query) => {
    response.writeHead(200, { 'content-type': query.get('type')! }).write('{"half":')
    halves.push(response)
  },
  '/cut': (_, response) => {
    for (const half of halves.splice(0)) half.destroy()
    json(response, {})
  },
  '/drop': (request) => request.socket.destroy(),
  '/nonsense': (request) => request.socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
  '/large': (_, response, query) => {
    let left = Number(query.get('bytes'))
    response.writeHead(200, { 'content-length': left })
    const more = () => {
      while (left > 0) {
        const part = Buffer.alloc(Math.min(left, 65_536), 120)
        left -= part.length
        given += part.length
        if (!response.write(part)) return response.once('drain', more)
      }
      return response.end()
    }
    more()
  },
  '/count': (request, response) => {
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
    })
    request.on('end', () => json(response, { bytes }))
  },
  // Both ways at once: what comes is sent back as it comes.
  '/mirror': (request, response) => void request.pipe(response),
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://site')
  note(request)
  response.once('close', () => {
    if (!response.writableFinished) gone += 1
  })
  const page = pages[pathname]
  if (page !== undefined) return page(request, response, searchParams)
  return json(response, { name, method: request.method, url: request.url, headers: request.headers })
})

const sockets = new WebSocketServer({ noServer: true })
sockets.on('headers', (lines) => lines.push('set-cookie: from-socket=1; Path=/', 'x-own: kept'))
server.on('upgrade', (request, socket: Socket, head) => {
  note(request)
  socket.on('error', () => socket.destroy())
  if (request.url?.startsWith('/refuse')) {
    // A complete response that leaves the connection open, and anything that is sent on it afterwards.
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno')
    socket.on('data', (data) => seen.push({ line: String(data), headers: {} }))
    return
  }
  if (request.url?.startsWith('/drop')) return void socket.destroy()
  sockets.handleUpgrade(request, socket, head, (ws) => {
    ws.send(JSON.stringify({ name, url: request.url, headers: request.headers }))
    ws.on('message', (data: Buffer, isBinary) => {
      const said = isBinary ? undefined : JSON.parse(String(data))
      if (said?.close !== undefined) ws.close(said.close, said.reason)
      else ws.send(data, { binary: isBinary })
    })
    ws.on('error', () => ws.terminate())
    ws.on('close', (code, reason) => seen.push({ line: `closed ${code} ${reason}`, headers: {} }))
  })
})

function note({ method, url, headers }: IncomingMessage): void {
  seen.push({ line: `${method} ${url}`, headers })
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

server.listen(Number(port), '127.0.0.1')
