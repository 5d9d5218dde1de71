import { constants } from 'node:os'
import { untilAborted } from '../pause.ts'
import { readNumbers } from '../prompt.ts'
import type { Turn } from '../turn.ts'

export async function stall(turn: Turn): Promise<void> {
  await untilAborted(turn.signal)
}

export async function stallHard(): Promise<void> {
  await new Promise(() => {})
}

export async function crash(_turn: Turn, argument: string): Promise<void> {
  const [code = 1] = readNumbers(argument, [1])
  process.stderr.write('demo agent: crashing, as asked\n')
  process.exit(code)
}

export async function crashSignal(turn: Turn, argument: string): Promise<void> {
  const name = argument || 'SIGKILL'
  const number = Object.entries(constants.signals).find(([signal]) => signal === name)?.[1]
  if (number === undefined) throw new Error(`There is no signal ${name}.`)
  process.kill(process.pid, number)
  // A signal with a listener arrives asynchronously.
  const dies = !turn.settings.ignoreEof && process.listenerCount(name) > 0
  if (dies) await untilAborted(turn.signal)
}

export async function stderrLines(_turn: Turn, argument: string): Promise<void> {
  const [count = 0] = readNumbers(argument, [1])
  for (let n = 0; n < count; n++) {
    await new Promise<void>((resolve) => {
      process.stderr.write(`demo agent: line ${n} of ${count}\n`, () => resolve())
    })
  }
}

export async function banner(turn: Turn, argument: string): Promise<void> {
  await turn.connection.write(`${argument || 'Welcome to the demo agent!'}\n`)
}

export async function half(turn: Turn): Promise<void> {
  await turn.connection.write('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"')
  process.exit(1)
}

/** Writes a line of invalid bytes, then a message that is valid except for bytes in its text. */
export async function badUtf8(turn: Turn): Promise<void> {
  await turn.connection.write(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]))
  const line = JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      sessionId: turn.session.id,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'bad>@<bad' } },
    },
  })
  const [before = '', after = ''] = line.split('@')
  await turn.connection.write(
    Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(`${after}\n`)]),
  )
}
