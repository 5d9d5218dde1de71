/**
 * An MCP server over stdio for agents without MCP over HTTP: posts each line of stdin to the host's tool server and
 * writes each response as a line to stdout. It runs inside the sandbox, so it is a single file without dependencies.
 */
import { randomUUID } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'

const url = process.env.VITRINE_TOOLS_URL
const token = process.env.VITRINE_TOOLS_TOKEN
if (url === undefined || token === undefined) {
  console.error('Expected VITRINE_TOOLS_URL and VITRINE_TOOLS_TOKEN in the environment.')
  process.exit(2)
}

// Ignores proxy variables, and reuses no connection, because the host may just have closed an idle one.
const agent = new Agent({ maxSockets: 128 })

/** Tells the host which calls a cancellation is for. The host gives another id in its response to `initialize`. */
let session: string = randomUUID()

interface ToolResponse {
  readonly status: number
  /** The JSON text of each message. */
  readonly messages: readonly string[]
}

function post(line: Buffer, sent: SentMessage | undefined): Promise<ToolResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url as string, { method: 'POST', agent, headers: headersFor(line, sent) })
    let responded = false
    outgoing.on('response', (response) => {
      responded = true
      const given = response.headers['mcp-session-id']
      if (typeof given === 'string') session = given
      read(response).then((messages) => resolve({ status: response.statusCode ?? 0, messages }), reject)
    })
    // A request that is rejected early cannot be written completely; its response still counts.
    outgoing.on('error', (error) => responded || reject(error))
    outgoing.end(line)
  })
}

function headersFor(line: Buffer, sent: SentMessage | undefined): Record<string, string | number> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': line.length,
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session,
    ...headersOfMessage(sent),
  }
}

/** Since revision 2026-07-28 a message has its revision, which HTTP headers must repeat together with its method and name. */
function headersOfMessage({ method, params }: SentMessage = {}): Record<string, string> {
  const version = params?._meta?.['io.modelcontextprotocol/protocolVersion']
  if (typeof version !== 'string' || typeof method !== 'string') return {}
  // The host rejects a message without the headers; a header with other characters could not be sent at all.
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, ...nameHeader(params?.name) }
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => printable.test(value)))
}

const printable = /^[!-~]+$/

function nameHeader(name: unknown): Record<string, string> {
  if (typeof name !== 'string') return {}
  const plain = printable.test(name) && !name.startsWith('=?')
  return { 'mcp-name': plain ? name : `=?base64?${Buffer.from(name).toString('base64')}?=` }
}

/** Reads a response: one JSON text, or server-sent events with one each. */
async function read(response: IncomingMessage): Promise<string[]> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  if (!response.headers['content-type']?.startsWith('text/event-stream')) return text === '' ? [] : [text]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data)
}

async function relay(line: Buffer): Promise<void> {
  const sent = parsed(line.toString('utf8'))
  try {
    const { status, messages } = await post(line, sent)
    if (status < 300) return messages.forEach(writeLine)
    const error = parsed(messages[0] ?? '')?.error
    fail(sent, error ?? { code: -32000, message: `The host responded with status ${status}.` })
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error)
    fail(sent, { code: -32000, message: `The host cannot be reached: ${why}` })
  }
}

interface SentMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>>; readonly name?: unknown }
  readonly error?: { readonly code: number; readonly message: string }
}

/** Writes an error response for each request of the line, because the host's error has no request id. */
function fail(
  sent: SentMessage | undefined,
  error: { readonly code: number; readonly message: string },
): void {
  if (sent === undefined) {
    writeLine(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
    return
  }
  const messages: readonly SentMessage[] = Array.isArray(sent) ? sent : [sent]
  const responses = messages
    .filter((message) => message?.id !== undefined && message.method !== undefined)
    .map(({ id }) => ({ jsonrpc: '2.0', id, error }))
  if (responses.length === 0) console.error(error.message)
  else writeLine(JSON.stringify(Array.isArray(sent) ? responses : responses[0]))
}

function parsed(text: string): SentMessage | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Splits at line feeds only, because JSON may contain other line terminators. */
async function* lines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let partial: Buffer[] = []
  for await (const chunk of input) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...partial, chunk.subarray(from, end)])
      partial = []
      from = end + 1
    }
    if (from < chunk.length) partial.push(chunk.subarray(from))
  }
  if (partial.length > 0) yield Buffer.concat(partial)
}

// The agent no longer reads.
process.stdout.on('error', () => process.exit(0))

const pending = new Set<Promise<void>>()
for await (const line of lines(process.stdin)) {
  if (line.toString('utf8').trim() === '') continue
  const task = relay(line).finally(() => pending.delete(task))
  pending.add(task)
}
await Promise.all(pending)
