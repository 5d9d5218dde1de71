import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { withTimeLimit } from '../waiting/within.ts'
import { parseReports, type Report } from './report.ts'

const writer = fileURLToPath(new URL('./writer.ts', import.meta.url))

/** A writer process, from its start to its death. */
export class WriterProcess {
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #firstReport: Promise<unknown>
  #stdout = ''
  #stderr = ''

  constructor(path: string, jsonlPath: string, seed: number) {
    const args = ['--conditions=source', '--no-warnings', writer, path, jsonlPath, String(seed)]
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
    })
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    // 'close' instead of 'exit': all of its output has been read by then.
    this.#ended = once(this.#process, 'close')
    this.#firstReport = this.#process.stdout ? once(this.#process.stdout, 'data') : Promise.resolve()
  }

  /** Resolves once it has written a report or exited. */
  async started(): Promise<void> {
    await withTimeLimit(
      'the first report of the writer',
      Promise.race([this.#firstReport, this.#ended]),
      60_000,
    )
  }

  /** Kills it with SIGKILL after this time and waits until it has exited. */
  async killAfter(milliseconds: number): Promise<void> {
    await sleep(milliseconds)
    this.#process.kill('SIGKILL')
    await this.#ended
  }

  get reports(): Report[] {
    return parseReports(this.#stdout)
  }

  /** A message if it exited before it was killed. */
  get unexpectedExit(): string | undefined {
    if (this.#process.signalCode === 'SIGKILL') return undefined
    return `the writer exited before it was killed, with code ${this.#process.exitCode}: ${this.#stderr.slice(-2_000)}`
  }
}
