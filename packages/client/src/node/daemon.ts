/// <reference types="node" />
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { VitrineError } from '@vitrine/protocol'
import { connectionFailed } from '../http/failures.ts'

const startMs = 30_000
const graceMs = 5_000
const keptLines = 20

export interface DaemonAddress {
  readonly url: string
  readonly token?: string
}

/** A daemon that this process started. */
export class Daemon {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #command: string
  readonly #lastWords: string[] = []
  /** Settles when the program has ended and all that it said was read, or when it could not be started. */
  readonly #ended: Promise<string>
  readonly #first: Promise<string>
  readonly #leave = () => void this.#child.kill('SIGTERM')

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
      this.#lastWords.push(line)
      if (this.#lastWords.length > keptLines) this.#lastWords.shift()
    })
    // What comes after the first line is read as well: a full pipe would stop the daemon.
    const lines = createInterface(this.#child.stdout)
    this.#first = new Promise((resolve) => lines.once('line', resolve))
    process.once('exit', this.#leave)
    void this.#ended.then(() => process.off('exit', this.#leave))
  }

  /** Where it listens, once it says so. */
  async address(signal?: AbortSignal): Promise<DaemonAddress> {
    const over = new AbortController()
    const late = new Promise<string>((resolve) => {
      const timer = setTimeout(resolve, startMs, `it said nothing within ${startMs} ms`)
      over.signal.addEventListener('abort', () => clearTimeout(timer))
    })
    const cancelled = new Promise<'called off'>((resolve) => {
      if (signal?.aborted) resolve('called off')
      signal?.addEventListener('abort', () => resolve('called off'), { signal: over.signal })
    })
    try {
      const why = await Promise.race([this.#first.then(addressIn), this.#ended, late, cancelled])
      if (typeof why === 'object') return why
      if (why === 'called off')
        throw new VitrineError('cancelled', 'It was called off before the daemon had started.', {
          cause: signal?.reason,
        })
      throw connectionFailed(
        [`The daemon did not start (${this.#command}): ${why}.`, ...this.#lastWords].join('\n'),
      )
    } finally {
      over.abort()
    }
  }

  /** Politely, and after a while for certain. */
  async end(): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs)
    await this.#ended
    clearTimeout(timer)
  }
}

function addressIn(line: string): DaemonAddress | string {
  try {
    const { url, token } = JSON.parse(line) as Partial<DaemonAddress>
    if (typeof url === 'string') return { url, ...(typeof token === 'string' && { token }) }
  } catch {
    // Said below.
  }
  return `expected its address as JSON, got ${JSON.stringify(line.slice(0, 200))}`
}
