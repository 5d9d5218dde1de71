/// <reference types="node" />
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { VitrineError } from '@vitrine/protocol'
import { connectionFailed } from '../http/failures.ts'

const startMs = 30_000
const graceMs = 5_000
const maxStderrLines = 20

export interface DaemonEndpoint {
  readonly url: string
  readonly token?: string
}

/** A daemon that this process started. */
export class DaemonProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #command: string
  readonly #stderrTail: string[] = []
  /** Settles when the program has ended and all that it said was read, or when it could not be started. */
  readonly #ended: Promise<string>
  readonly #firstLine: Promise<string>
  readonly #kill = () => void this.#child.kill('SIGTERM')

  constructor([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
    this.#command = [program, ...args].join(' ')
    this.#child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message))
      this.#child.once('close', (code, signal) => resolve(`it ended with ${signal ?? code}`))
    })
    createInterface(this.#child.stderr).on('line', (line) => {
      this.#stderrTail.push(line)
      if (this.#stderrTail.length > maxStderrLines) this.#stderrTail.shift()
    })
    // What comes after the first line is read as well: a full pipe would stop the daemon.
    const lines = createInterface(this.#child.stdout)
    this.#firstLine = new Promise((resolve) => lines.once('line', resolve))
    process.once('exit', this.#kill)
    void this.#ended.then(() => process.off('exit', this.#kill))
  }

  /** Where it listens, once it says so. */
  async endpoint(signal?: AbortSignal): Promise<DaemonEndpoint> {
    const settled = new AbortController()
    const timedOut = new Promise<string>((resolve) => {
      const timer = setTimeout(resolve, startMs, `it said nothing within ${startMs} ms`)
      settled.signal.addEventListener('abort', () => clearTimeout(timer))
    })
    const cancelled = new Promise<'called off'>((resolve) => {
      if (signal?.aborted) resolve('called off')
      signal?.addEventListener('abort', () => resolve('called off'), { signal: settled.signal })
    })
    try {
      const outcome = await Promise.race([
        this.#firstLine.then(parseEndpoint),
        this.#ended,
        timedOut,
        cancelled,
      ])
      if (typeof outcome === 'object') return outcome
      if (outcome === 'called off')
        throw new VitrineError('cancelled', 'It was called off before the daemon had started.', {
          cause: signal?.reason,
        })
      throw connectionFailed(
        [`The daemon did not start (${this.#command}): ${outcome}.`, ...this.#stderrTail].join('\n'),
      )
    } finally {
      settled.abort()
    }
  }

  /** Politely, and after a while for certain. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs)
    await this.#ended
    clearTimeout(timer)
  }
}

function parseEndpoint(line: string): DaemonEndpoint | string {
  try {
    const { url, token } = JSON.parse(line) as Partial<DaemonEndpoint>
    if (typeof url === 'string') return { url, ...(typeof token === 'string' && { token }) }
  } catch {
    // Said below.
  }
  return `expected its address as JSON, got ${JSON.stringify(line.slice(0, 200))}`
}
