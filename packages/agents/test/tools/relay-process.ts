import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import type { StdioToolsEntry } from '../../src/tools/serve-tools.ts'
import type { RpcReply } from './fixture.ts'

/** Starts the relay as an agent does, with only these variables. */
export class Relay {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<unknown[]>
  readonly #answers: AsyncIterator<RpcReply>

  constructor({ command, args, env }: StdioToolsEntry, more: Record<string, string> = {}) {
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    this.child = spawn(command, args, { env: { ...variables, ...more } })
    this.ended = once(this.child, 'exit')
    this.#answers = replies(this.child.stdout)
    onTestFinished(() => void this.child.kill('SIGKILL'))
  }

  write(...messages: unknown[]): void {
    for (const message of messages)
      this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }

  async next(): Promise<RpcReply> {
    const { value, done } = await this.#answers.next()
    if (done) throw new Error('The relay has ended.')
    return value
  }

  async remaining(): Promise<RpcReply[]> {
    this.child.stdin.end()
    const all: RpcReply[] = []
    for (let item = await this.#answers.next(); !item.done; item = await this.#answers.next())
      all.push(item.value)
    return all
  }
}

async function* replies(output: AsyncIterable<Buffer>): AsyncGenerator<RpcReply> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}
