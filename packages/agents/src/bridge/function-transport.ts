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

/** How an event of another vocabulary travels over the protocol. */
export const foreignMethod = '_vitrine/foreign_event'
/** How a conversation that comes back says how many turns it has had. */
export const turnsKey = 'vitrine.turns'

/** An agent that is a function of this process; the same protocol over the same bridge. */
export function functionTransport(
  { name, onPrompt }: FunctionAgent,
  where: { readonly session: string; readonly workdir: string },
): AgentTransport {
  const toAgent = new PassThrough()
  const fromAgent = new PassThrough()
  const over = new AbortController()
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
      // The SDK has checked that these are blocks; ours are the same as plain JSON.
      const content = params.prompt as unknown as readonly ContentBlock[]
      const round = rounds.get(sessionId) ?? 0
      rounds.set(sessionId, round + 1)
      const turn = new AbortController()
      turns.set(sessionId, turn)
      const signal = AbortSignal.any([turn.signal, over.signal])
      try {
        const context = { ...where, round, signal, content }
        const saying = onPrompt(textOf(content), context)
        await sayAll(saying, signal, (said) => say(client, sessionId, said))
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
    gone: ended.promise,
    ended: ended.promise,
    async end() {
      over.abort()
      toAgent.end()
      await new Promise((resolve) => setImmediate(resolve))
      const silent = { head: '', lines: 0 }
      ended.resolve({ outcome: 'cancelled', exitCode: null, signal: null, stderr: silent })
    },
    endChildrenSince: () => 0,
    now: () => 0,
  }
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n')
}

/** Whatever form it has; once the turn is cancelled nobody listens any more. */
async function sayAll(
  saying: AgentOutputs | Promise<AgentOutputs>,
  signal: AbortSignal,
  one: (said: AgentOutput) => Promise<void>,
): Promise<void> {
  const cancelled = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  cancelled.catch(() => undefined)
  const whole = await Promise.race([Promise.resolve(saying), cancelled])
  if (whole === undefined || whole === null) return
  if (typeof whole === 'string') return one(whole)
  if (Symbol.asyncIterator in whole) {
    const iterator = whole[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await Promise.race([iterator.next(), cancelled])
        if (done === true) return
        await one(value)
      }
    } finally {
      if (signal.aborted) void iterator.return?.()?.catch(() => undefined)
    }
  }
  if (Array.isArray(whole)) for (const said of whole) await one(said)
  else await one(whole as AgentOutput)
}

async function say(client: AgentContext, sessionId: string, said: AgentOutput): Promise<void> {
  if (typeof said === 'string')
    return client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said } },
    })
  if (typeof said.sessionUpdate === 'string')
    return client.notify<JsonObject>('session/update', { sessionId, update: said })
  return client.notify<JsonObject>(foreignMethod, { sessionId, event: said })
}
