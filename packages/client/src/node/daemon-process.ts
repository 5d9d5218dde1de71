/// <reference types="node" />
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { connectionFailed } from '../http/failures.ts'

const startMs = 30_000
const graceMs = 5_000
const maxStderrLines = 20

export interface DaemonEndpoint {
  readonly url: string
  readonly token?: string
}

/** A daemon that is a child process of this one. */
export class DaemonProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #command: string
  readonly #stderrTail: string[] = []
  /** Resolves with the reason when the program has exited and its output was read, or when it could not start. */
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
      this.#child.once('close', (code, signal) => resolve(`it exited with ${signal ?? code}`))
    })
    createInterface(this.#child.stderr).on('line', (line) => {
      this.#stderrTail.push(line)
      if (this.#stderrTail.length > maxStderrLines) this.#stderrTail.shift()
    })
    // The interface keeps reading after the first line: a full pipe would block the daemon.
    const lines = createInterface(this.#child.stdout)
    this.#firstLine = new Promise((resolve) => lines.once('line', resolve))
    process.once('exit', this.#kill)
    void this.#ended.then(() => process.off('exit', this.#kill))
  }

  /** The URL and token, from the daemon's first line of output. */
  async endpoint(signal?: AbortSignal): Promise<DaemonEndpoint> {
    const first = Promise.race([this.#firstLine.then(parseEndpoint), this.#ended])
    const isThere = await settledWithin(first, startMs, { signal })
    if (!isThere && signal?.aborted)
      throw new VitrineError('cancelled', 'The start was cancelled before the daemon was ready.', {
        cause: signal.reason,
      })
    const outcome = isThere ? await first : `no output within ${startMs} ms`
    if (typeof outcome === 'object') return outcome
    throw connectionFailed(
      [`The daemon did not start (${this.#command}): ${outcome}.`, ...this.#stderrTail].join('\n'),
    )
  }

  /** Sends SIGTERM, and SIGKILL after a grace period. */
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
    // Reported below.
  }
  return `expected {"url", "token"} as JSON on stdout, got ${JSON.stringify(line.slice(0, 200))}`
}
