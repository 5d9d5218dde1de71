/**
 * For agents that speak the Model Context Protocol over pipes only: each line that comes in is posted to the host's
 * tools, each answer is a line that goes out. It runs inside the sandbox, so it is one file that needs nothing else.
 */
import { Agent, type IncomingMessage, request } from 'node:http'

const url = process.env.VITRINE_TOOLS_URL
const token = process.env.VITRINE_TOOLS_TOKEN
if (url === undefined || token === undefined) {
  console.error('Expected VITRINE_TOOLS_URL and VITRINE_TOOLS_TOKEN in the environment.')
  process.exit(2)
}

// Takes no proxy from the environment, and no connection twice: the host may just have given up an idle one.
const agent = new Agent({ maxSockets: 128 })

/** As the host named it when it was greeted. */
let session: string | undefined

interface ToolResponse {
  readonly status: number
  readonly text: string
}

function post(line: Buffer): Promise<ToolResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url as string, { method: 'POST', agent, headers: headersFor(line) })
    let answered = false
    outgoing.on('response', (response) => {
      answered = true
      const given = response.headers['mcp-session-id']
      if (typeof given === 'string') session = given
      read(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    // The rest of a request that was refused midway cannot be written; the answer counts.
    outgoing.on('error', (error) => answered || reject(error))
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
      if (text !== '') say(text)
      return
    }
    fail(line, parsed(text)?.error ?? { code: -32000, message: `The host answered with status ${status}.` })
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error)
    fail(line, { code: -32000, message: `The host cannot be reached: ${why}` })
  }
}

interface Sent {
  readonly id?: unknown
  readonly method?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** A refusal knows no ids, and whoever asked waits for theirs. */
function fail(line: Buffer, error: { readonly code: number; readonly message: string }): void {
  const sent = parsed(line.toString('utf8'))
  if (sent === undefined) {
    say(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
    return
  }
  const messages: readonly Sent[] = Array.isArray(sent) ? sent : [sent]
  const answers = messages
    .filter((message) => message?.id !== undefined && message.method !== undefined)
    .map(({ id }) => ({ jsonrpc: '2.0', id, error }))
  if (answers.length === 0) console.error(error.message)
  else say(JSON.stringify(Array.isArray(sent) ? answers : answers[0]))
}

function parsed(text: string): Sent | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** By line feeds and nothing else: JSON may hold every other kind of line end. */
async function* lines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  for await (const chunk of input) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)])
      begun = []
      from = end + 1
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

// Nobody is left to answer.
process.stdout.on('error', () => process.exit(0))

const pending = new Set<Promise<void>>()
for await (const line of lines(process.stdin)) {
  if (line.toString('utf8').trim() === '') continue
  const task = relay(line).finally(() => pending.delete(task))
  pending.add(task)
}
await Promise.all(pending)
