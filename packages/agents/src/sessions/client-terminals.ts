import type { CreateTerminalRequest, TerminalOutputResponse } from '@agentclientprotocol/sdk'
import { type Process, type ProcessExit, type SandboxCore, VitrineError } from '@vitrine/protocol'

const defaultKeptBytes = 1024 * 1024
/** Whatever an agent asks for: what is kept is in our memory. */
const maxKeptBytes = 4 * 1024 * 1024
const maxTerminals = 64

interface Terminal {
  readonly process: Process
  readonly number: number
  readonly keptBytes: number
  chunks: Uint8Array[]
  bytes: number
  truncated: boolean
  exit: ProcessExit | undefined
  /** Settles once its output is all here and its end is known. */
  readonly over: Promise<ProcessExit>
}

/** An agent's `terminal/*`: processes of the sandbox, on record as every other. */
export class ClientTerminals {
  readonly #terminals = new Map<string, Terminal>()
  /** Those that are being started, each with its number. */
  readonly #starting = new Set<number>()
  #made = 0

  async create(sandbox: SandboxCore, owner: string, asked: CreateTerminalRequest): Promise<string> {
    if (this.#terminals.size + this.#starting.size >= maxTerminals)
      throw new VitrineError(
        'process_limit',
        `This session has ${maxTerminals} terminals already; release some.`,
      )
    const { command, args = [], env = [], cwd, outputByteLimit } = asked
    // Some agents put a whole line of shell where a program is due.
    const line = args.length === 0 && /\s/.test(command.trim()) ? command : [command, ...args]
    this.#made += 1
    const number = this.#made
    this.#starting.add(number)
    try {
      const process = await sandbox.spawn(line, {
        owner,
        env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
        ...(cwd && { cwd }),
      })
      if (this.#starting.has(number))
        return this.#follow(process, number, outputByteLimit ?? defaultKeptBytes)
      await process.kill()
      throw new VitrineError('cancelled', 'What it was for ended before the terminal began.')
    } finally {
      this.#starting.delete(number)
    }
  }

  #follow(process: Process, number: number, keptBytes: number): string {
    const over = Promise.withResolvers<ProcessExit>()
    const terminal: Terminal = {
      process,
      number,
      keptBytes: Math.min(keptBytes, maxKeptBytes),
      chunks: [],
      bytes: 0,
      truncated: false,
      exit: undefined,
      over: over.promise,
    }
    terminal.over.catch(() => undefined)
    this.#terminals.set(process.id, terminal)
    follow(terminal).then(over.resolve, over.reject)
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
    const { exitCode, signal } = await this.#get(id).over
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

  /** How many there have been: a moment for `killSince`. */
  get made(): number {
    return this.#made
  }

  /** Ends those that began since then and still run; their output stays. */
  async killSince(made: number): Promise<void> {
    for (const number of this.#starting) if (number > made) this.#starting.delete(number)
    const since = [...this.#terminals.entries()].filter(([, { number }]) => number > made)
    await Promise.allSettled(since.map(([id]) => this.kill(id)))
  }

  async close(): Promise<void> {
    this.#starting.clear()
    await Promise.allSettled([...this.#terminals.keys()].map((id) => this.release(id)))
  }

  #get(id: string): Terminal {
    const terminal = this.#terminals.get(id)
    if (terminal === undefined)
      throw new VitrineError('not_found', `There is no terminal "${id}" in this session, or it was released.`)
    return terminal
  }
}

async function follow(terminal: Terminal): Promise<ProcessExit> {
  for await (const { data } of terminal.process.view()) keep(terminal, data)
  terminal.exit = await terminal.process.exit
  return terminal.exit
}

/** The last bytes of it, as the protocol wants them. */
function keep(terminal: Terminal, data: Uint8Array): void {
  terminal.chunks.push(data)
  terminal.bytes += data.byteLength
  while (terminal.bytes > terminal.keptBytes) {
    const [first] = terminal.chunks
    if (first === undefined) return
    const over = terminal.bytes - terminal.keptBytes
    terminal.truncated = true
    if (first.byteLength <= over) terminal.chunks.shift()
    else terminal.chunks[0] = first.subarray(over)
    terminal.bytes -= Math.min(over, first.byteLength)
  }
}
