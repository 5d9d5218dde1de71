// A bare node:http server for comparison: a fixed response to every request, and files in and out.
import { createReadStream, createWriteStream, renameSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FixedResponse } from './bare.ts'

const [port = '0', folder = '', given = '{}'] = process.argv.slice(2)
const { headers = {}, body = '' }: Partial<FixedResponse> = JSON.parse(given)

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname !== '/file') return void response.writeHead(200, headers).end(body)
  transfer(request, response, join(folder, searchParams.get('path') ?? '')).catch((error: unknown) => {
    console.error(error)
    response.destroy()
  })
})
server.keepAliveTimeout = 65_000
server.listen(Number(port), '127.0.0.1')

async function transfer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  if (request.method === 'GET') {
    const file = createReadStream(path).on('error', () => response.destroy())
    file.pipe(response.writeHead(200, headers))
    return
  }
  const draft = `${path}.draft`
  await pipeline(request, createWriteStream(draft))
  renameSync(draft, path)
  response.writeHead(200, headers).end(body)
}
