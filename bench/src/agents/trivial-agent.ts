// A minimal agent: for a prompt that is a number it sends that many updates of 100 bytes, then responds.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

interface AgentRequest {
  /** Absent in a notification. */
  readonly id?: number
  readonly method: string
  readonly params: { readonly sessionId: string; readonly prompt: readonly { readonly text: string }[] }
}

const text = 'x'.repeat(100)
const batch = 100
let rest = ''
let sessions = 0
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) {
  const lines = (rest + String(chunk)).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) await handle(JSON.parse(line))
}

async function handle({ id, method, params }: AgentRequest): Promise<void> {
  if (id === undefined) return
  if (method === 'initialize') respond(id, { protocolVersion: 1, agentCapabilities: {} })
  else if (method === 'session/new') {
    sessions += 1
    respond(id, { sessionId: `s${sessions}` })
  } else if (method === 'session/prompt') await prompt(id, params)
  else respond(id, {})
}

async function prompt(id: number, { sessionId, prompt: [first] }: AgentRequest['params']): Promise<void> {
  const promptText = first?.text ?? ''
  // Starts grandchildren in a new process session (setsid), and never ends the turn.
  if (promptText === 'hang') {
    spawn('setsid', ['sh', '-c', 'sleep 1000 & sleep 1000'], { stdio: 'ignore' })
    sendUpdates(sessionId, 1)
    return
  }
  for (let left = Number(promptText); left > 0; left -= batch)
    await sendUpdates(sessionId, Math.min(left, batch))
  respond(id, { stopReason: 'end_turn' })
}

async function sendUpdates(sessionId: string, times: number): Promise<void> {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
  const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })}\n`
  if (!process.stdout.write(line.repeat(times))) await once(process.stdout, 'drain')
}

function respond(id: number, result: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
