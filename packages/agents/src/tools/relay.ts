/**
 * An MCP server over stdio for agents without MCP over HTTP: posts each line of stdin to the host's tool server and
 * writes each response as a line to stdout. It runs inside the sandbox, so it is a single file without dependencies.
 */
import { Agent, type IncomingMessage, request } from 'node:http'

const url = process.env.VITRINE_TOOLS_URL
const token = process.env.VITRINE_TOOLS_TOKEN
if (url === undefined || token === undefined) {
  console.error('Expected VITRINE_TOOLS_URL and VITRINE_TOOLS_TOKEN in the environment.')
  process.exit(2)
}

// Ignores proxy variables, and reuses no connection, because the host may just have closed an idle one.
const agent = new Agent({ maxSockets: 128 })

/** Session id from the host's response to `initialize`. */
let session: string | undefined

interface ToolResponse {
  readonly status: number
  readonly text: string
}

function post(line: Buffer): Promise<ToolResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url as string, { method: 'POST', agent, headers: headersFor(line) })
    let responded = false
    outgoing.on('response', (response) => {
      responded = true
      const given = response.headers['mcp-session-id']
      if (typeof given === 'string') session = given
      read(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    // A request that is rejected early cannot be written completely; its response still counts.
    outgoing.on('error', (error) => responded || reject(error))
    outgoing.end(line)
  })
}

function headersFor(line: Buffer): Record<string, string | number> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': line.length,
    accept: 'application/json, text/event-stream',
    ...(session !== undefined && { 'mcp-session-id': session }),
  }
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

async function relay(line: Buffer): Promise<void> {
  try {
    const { status, text } = await post(line)
    if (status < 300) {
      if (text !== '') writeLine(text)
      return
    }
    fail(line, parsed(text)?.error ?? { code: -32000, message: `The host responded with status ${status}.` })
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error)
    fail(line, { code: -32000, message: `The host cannot be reached: ${why}` })
  }
}

interface SentMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** Writes an error response for each request of the line, because the host's error has no request id. */
function fail(line: Buffer, error: { readonly code: number; readonly message: string }): void {
  const sent = parsed(line.toString('utf8'))
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
