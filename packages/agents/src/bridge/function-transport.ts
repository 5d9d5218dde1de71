import { PassThrough, Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  RequestError,
} from '@agentclientprotocol/sdk/unstable'
import type { ContentBlock, JsonObject } from '@vitrine/protocol'
import type { AgentOutput, AgentOutputs, FunctionAgent } from '../registry/custom-agent.ts'
import type { AgentExit, AgentTransport } from './transport.ts'

/** Method of the notification that carries an event of another vocabulary over ACP. */
export const foreignMethod = '_vitrine/foreign_event'
/** `_meta` key of `session/new` with the number of turns that a restored conversation already had. */
export const turnsKey = 'vitrine.turns'

const silent = { head: '', lines: 0 }

/** Runs a function agent in this process, over the same protocol and bridge as a program. */
export function functionTransport(
  { name, onPrompt }: FunctionAgent,
  location: { readonly session: string; readonly workdir: string },
): AgentTransport {
  const toAgent = new PassThrough()
  const fromAgent = new PassThrough()
  const ending = new AbortController()
  const turns = new Map<string, AbortController>()
  const rounds = new Map<string, number>()
  const ended = Promise.withResolvers<AgentExit>()

  agent({ name })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentInfo: { name, version: '0.0.0' },
      agentCapabilities: { promptCapabilities: { image: true, audio: true, embeddedContext: true } },
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      const sessionId = `${name}-${rounds.size + 1}`
      const before = params._meta?.[turnsKey]
      rounds.set(sessionId, typeof before === 'number' ? before : 0)
      return { sessionId }
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => turns.get(params.sessionId)?.abort())
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const { sessionId } = params
      // The SDK has validated the content blocks; our type describes the same JSON.
      const content = params.prompt as unknown as readonly ContentBlock[]
      const round = rounds.get(sessionId) ?? 0
      rounds.set(sessionId, round + 1)
      const turn = new AbortController()
      turns.set(sessionId, turn)
      const signal = AbortSignal.any([turn.signal, ending.signal])
      try {
        const context = { ...location, round, signal, content }
        const outputs = onPrompt(textOf(content), context)
        await sendAll(outputs, signal, (output) => send(client, sessionId, output))
      } catch (error) {
        if (signal.aborted) return { stopReason: 'cancelled' }
        throw new RequestError(-32_603, error instanceof Error ? error.message : String(error))
      } finally {
        turns.delete(sessionId)
      }
      return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' }
    })
    .connect(ndJsonStream(Writable.toWeb(fromAgent), Readable.toWeb(toAgent) as ReadableStream<Uint8Array>))
    .closed.catch(() => undefined)

  return {
    facts: { function: true },
    start: (take) => void fromAgent.on('data', take),
    pause: () => void fromAgent.pause(),
    resume: () => void fromAgent.resume(),
    write: (line) =>
      new Promise((resolve, reject) => {
        toAgent.write(line, (error) => (error ? reject(error) : resolve()))
      }),
    stderr: () => silent,
    exited: ended.promise,
    closed: ended.promise,
    async end() {
      ending.abort()
      toAgent.end()
      await new Promise((resolve) => setImmediate(resolve))
      ended.resolve({ outcome: 'cancelled', exitCode: null, signal: null, stderr: silent })
    },
    killStartedAfter: () => 0,
    processMark: () => 0,
  }
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n')
}

/** Sends every output, whatever form the function returned; stops as soon as the turn is cancelled. */
async function sendAll(
  outputs: AgentOutputs | Promise<AgentOutputs>,
  signal: AbortSignal,
  sendOne: (output: AgentOutput) => Promise<void>,
): Promise<void> {
  const orCancelled = waitsFor(signal)
  const resolved = await orCancelled(outputs)
  if (resolved === undefined || resolved === null) return
  if (typeof resolved === 'string') return sendOne(resolved)
  if (Symbol.asyncIterator in resolved) {
    const iterator = resolved[Symbol.asyncIterator]()
    let isDone = false
    try {
      for (;;) {
        const { done, value } = await orCancelled(iterator.next())
        isDone = done === true
        if (isDone) return
        await sendOne(value)
      }
    } finally {
      // Not awaited: a generator that ignores its signal may never get there.
      if (!isDone) void iterator.return?.()?.catch(() => undefined)
    }
  }
  if (Array.isArray(resolved)) for (const output of resolved) await sendOne(output)
  else await sendOne(resolved as AgentOutput)
}

/**
 * Returns a function that waits for one value at a time, or rejects when the signal aborts. A race with one promise of the
 * signal would keep something of every value until the turn ends.
 */
function waitsFor(signal: AbortSignal): <Value>(value: Value | PromiseLike<Value>) => Promise<Value> {
  let interrupt = (_reason: unknown): void => undefined
  signal.addEventListener('abort', () => interrupt(signal.reason), { once: true })
  return (value) =>
    new Promise((resolve, reject) => {
      interrupt = reject
      if (signal.aborted) reject(signal.reason)
      Promise.resolve(value).then(resolve, reject)
    })
}

async function send(client: AgentContext, sessionId: string, output: AgentOutput): Promise<void> {
  checkOutput(output)
  if (typeof output === 'string')
    return client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: output } },
    })
  if (typeof output.sessionUpdate === 'string')
    return client.notify<JsonObject>('session/update', { sessionId, update: output })
  return client.notify<JsonObject>(foreignMethod, { sessionId, event: output })
}

/** The connection would wait for ever for a message that cannot be written. */
function checkOutput(output: unknown): void {
  if (typeof output === 'string') return
  if (typeof output !== 'object' || output === null)
    throw new TypeError(`onPrompt: expected a string or an event, got ${String(output)}.`)
  try {
    JSON.stringify(output)
  } catch (cause) {
    throw new TypeError(`onPrompt: expected an event that is JSON: ${String(cause)}`, { cause })
  }
}
