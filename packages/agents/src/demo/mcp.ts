import type { McpServer } from '@agentclientprotocol/sdk/unstable'

type HttpServer = Extract<McpServer, { type: 'http' }>

export interface McpTool {
  readonly name: string
  readonly description?: string
}

export function isHttp(server: McpServer): server is HttpServer {
  return 'type' in server && server.type === 'http'
}

/** A minimal MCP client over HTTP that lists and calls tools. */
export class McpClient {
  readonly #server: HttpServer
  readonly #signal: AbortSignal
  #sessionId: string | undefined
  #version: string | undefined
  #lastId = 0

  private constructor(server: HttpServer, signal: AbortSignal) {
    this.#server = server
    this.#signal = signal
  }

  static async open(server: HttpServer, signal: AbortSignal): Promise<McpClient> {
    const client = new McpClient(server, signal)
    const initialized = await client.#request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'vitrine-demo', version: '1' },
    })
    client.#version = field(initialized, 'protocolVersion', '2025-06-18')
    await client.#post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return client
  }

  async tools(): Promise<readonly McpTool[]> {
    return field<McpTool[]>(await this.#request('tools/list', {}), 'tools', [])
  }

  call(name: string, input: unknown): Promise<unknown> {
    return this.#request('tools/call', { name, arguments: input })
  }

  async #request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#lastId
    const response = await this.#post({ jsonrpc: '2.0', id, method, params })
    for await (const message of messages(response)) {
      if (field(message, 'id', undefined) !== id) continue
      const error = field<unknown>(message, 'error', undefined)
      if (error !== undefined) throw new Error(`${method}: ${field(error, 'message', JSON.stringify(error))}`)
      return field<unknown>(message, 'result', undefined)
    }
    throw new Error(`${method}: no response`)
  }

  async #post(message: object): Promise<Response> {
    const response = await fetch(this.#server.url, {
      method: 'POST',
      headers: {
        ...Object.fromEntries(this.#server.headers.map(({ name, value }) => [name, value])),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.#sessionId === undefined ? {} : { 'mcp-session-id': this.#sessionId }),
        ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
      },
      body: JSON.stringify(message),
      signal: this.#signal,
    })
    if (!response.ok) throw new Error(`HTTP ${response.status} from ${this.#server.name}`)
    this.#sessionId = response.headers.get('mcp-session-id') ?? this.#sessionId
    return response
  }
}

/** The messages of a response, which is JSON or a stream of server-sent events. */
async function* messages(response: Response): AsyncGenerator<unknown> {
  if (!response.headers.get('content-type')?.includes('text/event-stream')) {
    yield await response.json()
    return
  }
  let rest = ''
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = `${rest}${text}`.replaceAll('\r\n', '\n').split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length))
      if (data.length > 0) yield JSON.parse(data.join('\n'))
    }
  }
}

/** A field of a server's message; its type is not checked. */
function field<T>(value: unknown, name: string, fallback: T): T {
  if (typeof value !== 'object' || value === null) return fallback
  return ((value as Record<string, unknown>)[name] as T | undefined) ?? fallback
}
