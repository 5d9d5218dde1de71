import type { CustomAgent } from '@vitrine/host'

/** An agent that does what the first word of its prompt says: `say`, `file`, `stall` until it is cancelled, or `crash`. */
export const actor: CustomAgent = {
  name: 'actor',
  command: [
    process.execPath,
    '--input-type=module',
    '-e',
    `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const say = (sessionId, text) => send({ method: 'session/update', params: { sessionId, update:
  { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } })
let stalled
const handlers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 's' }),
  'session/cancel': () => {
    if (stalled !== undefined) send({ id: stalled, result: { stopReason: 'cancelled' } })
    stalled = undefined
  },
  'session/prompt': ({ sessionId, prompt }, id) => {
    const text = prompt.at(-1).text
    say(sessionId, text)
    if (text.startsWith('crash')) process.exit(7)
    if (text.startsWith('file')) appendFileSync('made.txt', text + '\\n')
    if (text.startsWith('stall')) return void (stalled = id)
    return { stopReason: 'end_turn' }
  },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result = handlers[method]?.(params, id)
  if (id !== undefined && result !== undefined) send({ id, result })
}).on('close', () => process.exit(0))
`,
  ],
}
