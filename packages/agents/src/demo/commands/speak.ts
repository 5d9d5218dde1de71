import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
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

/** Past the SDK, many lines in one write, so that the pipe is what limits it. */
export async function flood(turn: Turn, argument: string): Promise<void> {
  const [count = 0, bytes = 0] = readNumbers(argument, [1000, 100])
  let batch = ''
  for (let n = 0; n < count; n++) {
    batch += `${JSON.stringify(chunkMessage(turn, numbered(n, bytes)))}\n`
    if (batch.length < 64 * 1024 && n < count - 1) continue
    await turn.wire.write(batch)
    batch = ''
    // A pipe with room answers without a turn of the loop; a cancel needs one to be read.
    await nextTurnOfTheLoop()
    turn.signal.throwIfAborted()
  }
}

export async function big(turn: Turn, argument: string): Promise<void> {
  const [bytes = 0] = readNumbers(argument, [1024 * 1024])
  await turn.client.notify('session/update', chunkMessage(turn, 'x'.repeat(bytes)).params)
}

export async function title(turn: Turn, argument: string): Promise<void> {
  await turn.title(argument)
}

export async function plan(turn: Turn): Promise<void> {
  const steps = ['Look', 'Think', 'Do']
  for (let at = 0; at <= steps.length; at++) {
    await sendPlan(turn, steps, at)
    await turn.pause(80)
  }
}

/** What is before `at` is done, and `at` is being done. */
export async function sendPlan(turn: Turn, steps: readonly string[], at: number): Promise<void> {
  await turn.send({
    sessionUpdate: 'plan',
    entries: steps.map((content, place) => ({
      content,
      priority: place === 0 ? 'high' : 'medium',
      status: place < at ? 'completed' : place === at ? 'in_progress' : 'pending',
    })),
  })
}

/** The one error that ends a turn. */
export class ErrorAsAsked extends RequestError {}

export async function error(_turn: Turn, argument: string): Promise<never> {
  const [word, rest] = firstWord(argument)
  const code = /^-?\d+$/.test(word) ? Number(word) : undefined
  throw code === undefined
    ? new ErrorAsAsked(-32603, argument || 'An error, as asked')
    : new ErrorAsAsked(code, rest || 'An error, as asked')
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

/** So many bytes that start with the number, so that a reader sees what is missing. */
function numbered(n: number, bytes: number): string {
  return `${n} `.padEnd(bytes, '.')
}
