import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { RequestError } from '@agentclientprotocol/sdk/unstable'
import { firstWord, readNumbers } from '../prompt.ts'
import type { Turn } from '../turn.ts'

export async function stream(turn: Turn, argument: string): Promise<void> {
  const [count = 0, bytes = 0] = readNumbers(argument, [10, 16])
  for (let n = 0; n < count; n++) {
    await turn.say(numbered(n, bytes), `stream-${turn.requestId}`)
    await turn.pause(10)
  }
}

/** Bypasses the SDK and writes many lines at once, so that only the pipe limits the rate. */
export async function flood(turn: Turn, argument: string): Promise<void> {
  const [count = 0, bytes = 0] = readNumbers(argument, [1000, 100])
  let batch = ''
  for (let n = 0; n < count; n++) {
    batch += `${JSON.stringify(chunkMessage(turn, numbered(n, bytes)))}\n`
    if (batch.length < 64 * 1024 && n < count - 1) continue
    await turn.connection.write(batch)
    batch = ''
    // A pipe with free space accepts writes synchronously; yield, so that a cancel can be read.
    await yieldToEventLoop()
    turn.signal.throwIfAborted()
  }
}

export async function big(turn: Turn, argument: string): Promise<void> {
  const [bytes = 0] = readNumbers(argument, [1024 * 1024])
  await turn.client.notify('session/update', chunkMessage(turn, 'x'.repeat(bytes)).params)
}

export async function title(turn: Turn, argument: string): Promise<void> {
  await turn.setTitle(argument)
}

export async function plan(turn: Turn): Promise<void> {
  const steps = ['Look', 'Think', 'Do']
  for (let at = 0; at <= steps.length; at++) {
    await sendPlan(turn, steps, at)
    await turn.pause(80)
  }
}

/** Sends a plan in which the steps before `current` are completed and `current` is in progress. */
export async function sendPlan(turn: Turn, steps: readonly string[], current: number): Promise<void> {
  await turn.send({
    sessionUpdate: 'plan',
    entries: steps.map((content, index) => ({
      content,
      priority: index === 0 ? 'high' : 'medium',
      status: index < current ? 'completed' : index === current ? 'in_progress' : 'pending',
    })),
  })
}

/** The error of `/error`, the only one that ends a turn. */
export class RequestedError extends RequestError {}

export async function error(_turn: Turn, argument: string): Promise<never> {
  const [word, rest] = firstWord(argument)
  const code = /^-?\d+$/.test(word) ? Number(word) : undefined
  throw code === undefined
    ? new RequestedError(-32603, argument || 'An error, as asked')
    : new RequestedError(code, rest || 'An error, as asked')
}

export async function modelError(turn: Turn): Promise<void> {
  await turn.say(
    'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"The model refused, as asked"}}',
  )
}

function chunkMessage(turn: Turn, text: string) {
  return {
    jsonrpc: '2.0' as const,
    method: 'session/update',
    params: {
      sessionId: turn.session.id,
      update: { sessionUpdate: 'agent_message_chunk' as const, content: { type: 'text' as const, text } },
    },
  }
}

/** A text of the given size that starts with its number, so that a reader notices missing ones. */
function numbered(n: number, bytes: number): string {
  return `${n} `.padEnd(bytes, '.')
}
