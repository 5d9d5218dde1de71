import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { within } from '../waiting/within.ts'
import { parseReports, type Report } from './report.ts'

const writer = fileURLToPath(new URL('./writer.ts', import.meta.url))

/** A writer process, from its start to its death. */
export class Child {
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #firstReport: Promise<unknown>
  #told = ''
  #complaint = ''

  constructor(path: string, jsonlPath: string, seed: number) {
    const args = ['--conditions=source', '--no-warnings', writer, path, jsonlPath, String(seed)]
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#told += text
    })
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint += text
    })
    // Closed, and not only gone: then everything it told has been read.
    this.#ended = once(this.#process, 'close')
    this.#firstReport = this.#process.stdout ? once(this.#process.stdout, 'data') : Promise.resolve()
  }

  /** Once it has told something, or has ended without. */
  async started(): Promise<void> {
    await within('the writer to tell something', Promise.race([this.#firstReport, this.#ended]), 60_000)
  }

  /** Kills it like the kernel does, and waits until it is gone. */
  async killAfter(milliseconds: number): Promise<void> {
    await sleep(milliseconds)
    this.#process.kill('SIGKILL')
    await this.#ended
  }

  get reports(): Report[] {
    return parseReports(this.#told)
  }

  /** Why it ended by itself, where it did. */
  get complaint(): string | undefined {
    if (this.#process.signalCode === 'SIGKILL') return undefined
    return `the writer ended by itself with ${this.#process.exitCode}: ${this.#complaint.slice(-2_000)}`
  }
}
