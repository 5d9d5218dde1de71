import { setTimeout as sleep } from 'node:timers/promises'
export { sleep }
export const quick = { VITRINE_DEMO_PACE: '0' }
const preamble = `
import { createInterface } from 'node:readline'
import { existsSync, writeFileSync } from 'node:fs'
const handlers = new Map(), waiting = new Map()
let asked = 0
const on = (method, handler) => handlers.set(method, handler)
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const reply = (id, result) => send({ id, result })
const ask = (method, params, id = 'ask-' + ++asked) => new Promise((resolve) => { waiting.set(id, resolve); send({ id, method, params }) })
const update = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } })
const say = (sessionId, text) => update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const options = [ { optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' } ]
const models = { currentModelId: 'a', availableModels: [{ modelId: 'a', name: 'A' }, { modelId: 'b', name: 'B' }] }
on('initialize', ({ id }) => reply(id, { protocolVersion: 1, agentCapabilities: {} }))
on('session/new', ({ id }) => reply(id, { sessionId: 'session-' + ++asked, models }))
on('session/prompt', ({ id }) => reply(id, { stopReason: 'end_turn' }))
on('session/set_model', ({ id }) => reply(id, {}))
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const message = JSON.parse(line)
  if (message.method === undefined) waiting.get(message.id)?.(message)
  else handlers.get(message.method)?.({ id: message.id, ...message.params })
})
lines.on('close', () => process.exit(0))
`
export function script(name: string, source: string, more = {}) {
  return { name, command: [process.execPath, '--input-type=module', '-e', `${preamble}\n${source}`], ...more }
}
export async function all(sandbox: any, types?: string[]) {
  const events: any[] = []
  for (let after: string | undefined; ; ) {
    const page = await sandbox.journal.read({ limit: 1000, ...(types && { types }), ...(after && { after }) })
    events.push(...page.events); after = page.cursor
    if (page.end) return events
  }
}
export async function timed<T>(what: string, work: Promise<T>, ms = 15000): Promise<T | undefined> {
  const t = performance.now()
  const r = await Promise.race([work.then((v) => ({ v }), (e) => ({ e })), sleep(ms).then(() => 'LATE' as const)])
  const took = Math.round(performance.now() - t)
  if (r === 'LATE') { console.log(`${what}: NOT SETTLED after ${took} ms`); return undefined }
  if ('e' in r) { console.log(`${what}: rejected after ${took} ms: ${r.e?.code} ${String(r.e?.message).slice(0, 150)}`); return undefined }
  console.log(`${what}: ok after ${took} ms`)
  return r.v
}
