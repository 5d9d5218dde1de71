import { constants } from 'node:os'
import type { Journal } from '@vitrine/journal'
import {
  type OutputChunk,
  type Process,
  type ProcessExit,
  type ProcessLimits,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, processOptions } from '@vitrine/protocol/options'
import { requireWholeNumber, shown } from '@vitrine/protocol/primitives'
import type { ProcessEntry } from './entry.ts'

const defaultGraceMs = 2_000
const mostCells = 1_000

/** A caller's handle to a process. Every call is an operation. */
export class ProcessHandle implements Process {
  readonly id: string
  readonly #entry: ProcessEntry
  readonly #journal: Journal
  readonly #limits: ProcessLimits

  constructor(entry: ProcessEntry, journal: Journal, limits: ProcessLimits) {
    this.id = entry.id
    this.#entry = entry
    this.#journal = journal
    this.#limits = limits
  }

  get pid(): number {
    return this.#entry.current.pid
  }

  get exit(): Promise<ProcessExit> {
    return this.#entry.exit
  }

  view(options: { signal?: AbortSignal } = {}): AsyncIterableIterator<OutputChunk> {
    checkOptions('view', processOptions.view, options)
    return this.#entry.viewers.view(options.signal)
  }

  input(data: string | Uint8Array): Promise<void> {
    const bytes = Buffer.byteLength(data)
    return this.#operate('process_input', { bytes }, async () => {
      const { inputBytes } = this.#limits
      // Earlier input that the process has not read yet counts as well.
      const waiting = this.#entry.inputWaiting
      if (bytes + waiting > inputBytes) {
        await this.#journal.append([
          { type: 'limit.reached', data: { limit: 'inputBytes', max: inputBytes } },
        ])
        throw new VitrineError(
          'input_too_large',
          `The input has ${bytes} bytes, with ${waiting} earlier bytes still unread; the limit is ${inputBytes} bytes.`,
        )
      }
      const { terminal, stdin, ended } = this.#entry.current
      if (ended) throw exited(this.id)
      this.#entry.inputWaiting += bytes
      try {
        if (terminal !== undefined) await terminal.write(data)
        else if (stdin?.writable) await written((done) => stdin.write(data, done))
        else throw new VitrineError('input_closed', `The input of process ${this.id} is closed.`)
      } finally {
        this.#entry.inputWaiting -= bytes
      }
    })
  }

  end(): Promise<void> {
    return this.#operate('process_end_input', {}, async () => {
      const { terminal, stdin, ended } = this.#entry.current
      if (terminal !== undefined && ended) throw exited(this.id)
      // ^D ends the input of a terminal.
      if (terminal !== undefined) await terminal.write('\x04')
      else if (stdin?.writable) await written((done) => stdin.end(() => done()))
    })
  }

  resize(cols: number, rows: number): Promise<void> {
    return this.#operate('process_resize', { cols, rows }, async () => {
      requireWholeNumber('tty.cols', cols, 1, mostCells)
      requireWholeNumber('tty.rows', rows, 1, mostCells)
      const { terminal, ended } = this.#entry.current
      if (ended) throw exited(this.id)
      if (terminal === undefined)
        throw new VitrineError('terminal_required', `Process ${this.id} has no terminal to resize.`)
      await terminal.resize(cols, rows)
    })
  }

  signal(name: string): Promise<void> {
    return this.#operate('process_signal', { signal: name }, () =>
      this.#entry.current.signal(signalNamed(name)),
    )
  }

  async stop(options: { graceMs?: number } = {}): Promise<ProcessExit> {
    checkOptions('stop', processOptions.stop, options)
    const { graceMs = defaultGraceMs } = options
    return this.#operate('process_stop', { graceMs }, () => this.#entry.stop(graceMs))
  }

  kill(): Promise<ProcessExit> {
    return this.#operate('process_kill', {}, () => this.#entry.kill('cancelled'))
  }

  #operate<T>(op: string, data: Readonly<Record<string, unknown>>, run: () => T | Promise<T>): Promise<T> {
    return this.#journal.operate(op, { process: this.id, ...data }, run)
  }
}

function signalNamed(name: string): NodeJS.Signals {
  if (isSignal(name)) return name
  throw new VitrineError('argument_invalid', `signal: expected a name such as SIGTERM, got ${shown(name)}.`)
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name)
}

/** Waits until a stream has accepted the data that is written to it. */
function written(write: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    write((error) => {
      if (error)
        reject(new VitrineError('input_closed', 'The process has closed its input.', { cause: error }))
      else resolve()
    })
  })
}

function exited(id: string): VitrineError {
  return new VitrineError('process_exited', `Process ${id} has exited.`)
}
