import type { CreateTerminalRequest, TerminalOutputResponse } from '@agentclientprotocol/sdk'
import { type Process, type ProcessExit, type SandboxCore, VitrineError } from '@vitrine/protocol'

const defaultOutputBytes = 1024 * 1024
/** Upper bound for the agent's `outputByteLimit`, because the output is kept in memory. */
const maxOutputBytes = 4 * 1024 * 1024
const maxTerminals = 64

interface Terminal {
  readonly process: Process
  readonly number: number
  readonly maxBytes: number
  chunks: Uint8Array[]
  bytes: number
  truncated: boolean
  exit: ProcessExit | undefined
  /** Settles with the exit, once all output has arrived. */
  readonly exited: Promise<ProcessExit>
}

/** Handles `terminal/*` with recorded processes of the sandbox. */
export class ClientTerminals {
  readonly #terminals = new Map<string, Terminal>()
  /** Numbers of the terminals that are being started. */
  readonly #starting = new Set<number>()
  #created = 0

  async create(sandbox: SandboxCore, owner: string, request: CreateTerminalRequest): Promise<string> {
    if (this.#terminals.size + this.#starting.size >= maxTerminals)
      throw new VitrineError(
        'process_limit',
        `This session has ${maxTerminals} terminals already; release some.`,
      )
    const { command, args = [], env = [], cwd, outputByteLimit } = request
    // Some agents send a whole shell command line as `command`.
    const line = args.length === 0 && /\s/.test(command.trim()) ? command : [command, ...args]
    this.#created += 1
    const number = this.#created
    this.#starting.add(number)
    try {
      const process = await sandbox.spawn(line, {
        owner,
        env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
        ...(cwd && { cwd }),
      })
      if (this.#starting.has(number))
        return this.#follow(process, number, outputByteLimit ?? defaultOutputBytes)
      await process.kill()
      throw new VitrineError('cancelled', 'The turn or session ended before the terminal was started.')
    } finally {
      this.#starting.delete(number)
    }
  }

  #follow(process: Process, number: number, maxBytes: number): string {
    const exited = Promise.withResolvers<ProcessExit>()
    const terminal: Terminal = {
      process,
      number,
      maxBytes: Math.min(maxBytes, maxOutputBytes),
      chunks: [],
      bytes: 0,
      truncated: false,
      exit: undefined,
      exited: exited.promise,
    }
    terminal.exited.catch(() => undefined)
    this.#terminals.set(process.id, terminal)
    follow(terminal).then(exited.resolve, exited.reject)
    return process.id
  }

  output(id: string): TerminalOutputResponse {
    const { chunks, truncated, exit } = this.#get(id)
    const bytes = Buffer.concat(chunks)
    return {
      output: bytes.toString('utf8').replace(/^\ufffd{1,3}/, ''),
      truncated,
      ...(exit && { exitStatus: { exitCode: exit.exitCode, signal: exit.signal } }),
    }
  }

  async waitForExit(id: string): Promise<{ exitCode: number | null; signal: string | null }> {
    const { exitCode, signal } = await this.#get(id).exited
    return { exitCode, signal }
  }

  async kill(id: string): Promise<void> {
    const { process, exit } = this.#get(id)
    if (exit === undefined) await process.kill()
  }

  async release(id: string): Promise<void> {
    await this.kill(id)
    this.#terminals.delete(id)
  }

  /** Number of terminals created so far; the argument of `killSince`. */
  get createdCount(): number {
    return this.#created
  }

  /** Kills the terminals created after that count; their output stays readable. */
  async killSince(count: number): Promise<void> {
    for (const number of this.#starting) if (number > count) this.#starting.delete(number)
    const since = [...this.#terminals.entries()].filter(([, { number }]) => number > count)
    await Promise.allSettled(since.map(([id]) => this.kill(id)))
  }

  async close(): Promise<void> {
    this.#starting.clear()
    await Promise.allSettled([...this.#terminals.keys()].map((id) => this.release(id)))
  }

  #get(id: string): Terminal {
    const terminal = this.#terminals.get(id)
    if (terminal === undefined)
      throw new VitrineError(
        'not_found',
        `The terminal "${id}" does not exist in this session, or it was released.`,
      )
    return terminal
  }
}

async function follow(terminal: Terminal): Promise<ProcessExit> {
  for await (const { data } of terminal.process.view()) appendOutput(terminal, data)
  terminal.exit = await terminal.process.exit
  return terminal.exit
}

/** Appends output and drops the oldest bytes above the limit, as the protocol requires. */
function appendOutput(terminal: Terminal, data: Uint8Array): void {
  terminal.chunks.push(data)
  terminal.bytes += data.byteLength
  while (terminal.bytes > terminal.maxBytes) {
    const [first] = terminal.chunks
    if (first === undefined) return
    const excess = terminal.bytes - terminal.maxBytes
    terminal.truncated = true
    if (first.byteLength <= excess) terminal.chunks.shift()
    else terminal.chunks[0] = first.subarray(excess)
    terminal.bytes -= Math.min(excess, first.byteLength)
  }
}
