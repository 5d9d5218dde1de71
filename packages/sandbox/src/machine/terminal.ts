import { spawn } from 'node:child_process'
import { constants, openSync, writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReadStream } from 'node:tty'
import { VitrineError } from '@vitrine/protocol'
import { Serial, systemErrorCode } from '@vitrine/protocol/primitives'
import type { Launch, LaunchedTerminal, WaitStatus } from './machine.ts'
import { type Program, spawnOrThrow, started } from './pipes.ts'

/** The descriptor of the terminal's master in `vitrine-machine`: the first after the three streams. */
const hostEnd = 3

interface StartedTerminal {
  readonly pid: number
  readonly terminal: LaunchedTerminal
  readonly ended: Promise<WaitStatus>
  readonly report: Readable | undefined
}

/** Starts `vitrine-machine` with a new terminal. `multiplexer` is the path of the `ptmx` device. */
export async function startWithTerminal(
  { file, args, env }: Program,
  multiplexer: string,
  launch: Launch,
): Promise<StartedTerminal> {
  const master = openMultiplexer(multiplexer)
  const screen = new Screen(master)
  // The kernel returns EIO when the last program has closed the terminal: that is end of file, not an error.
  screen.on('error', () => screen.destroy())
  try {
    const child = spawnOrThrow(launch, file, args, {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', master, 'pipe'],
    })
    const { pid, ended } = await started(child, launch)
    ended.then(screen.release, screen.release)
    const report = child.stdio[4]
    return {
      pid,
      ended,
      terminal: terminalOn(screen, file, master),
      report: report instanceof Readable ? report : undefined,
    }
  } catch (error) {
    screen.release()
    screen.destroy()
    throw error
  }
}

/**
 * The host's end of a terminal. It stays open until the command has ended: many programs close the terminal just before
 * they exit, and closing this end then would end them with SIGHUP instead of their own exit code.
 */
class Screen extends ReadStream {
  readonly #released = Promise.withResolvers<void>()
  readonly release = (): void => this.#released.resolve()

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    void this.#released.promise.then(() => super._destroy(error, callback))
  }
}

function terminalOn(screen: ReadStream, file: string, master: number): LaunchedTerminal {
  const writes = new Serial()
  return {
    onData: (listener) => void screen.on('data', listener),
    write: (data) => {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      return writes.run(() => writeAll(screen, master, bytes))
    },
    resize: async (cols, rows) => {
      if (screen.destroyed) throw new VitrineError('process_exited', 'The terminal is closed.')
      await resize(file, master, cols, rows)
    },
    pause: () => void screen.pause(),
    resume: () => void screen.resume(),
    close: () => void screen.destroy(),
    closed: new Promise((resolve) => screen.once('close', resolve)),
  }
}

function openMultiplexer(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  } catch (error) {
    const message = `No terminal is available: ${error instanceof Error ? error.message : String(error)}.`
    throw new VitrineError('terminal_unavailable', message, { cause: error })
  }
}

/** Node has no call that sets the size of a terminal, so `vitrine-machine resize` does it. */
function resize(file: string, master: number, cols: number, rows: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, ['resize', String(hostEnd), String(cols), String(rows)], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', master],
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new VitrineError('process_exited', 'The terminal is closed.'))
    })
  })
}

const busyMs = 10

/** Writes to the terminal without blocking; libuv's own write to a master would block. */
async function writeAll(screen: ReadStream, master: number, data: Uint8Array): Promise<void> {
  for (let rest = data; rest.length > 0; ) {
    if (screen.destroyed) throw new VitrineError('input_closed', 'The process has closed its input.')
    const written = writeSome(master, rest)
    rest = rest.subarray(written)
    if (written === 0) await sleep(busyMs)
  }
}

/**
 * Returns how many bytes the terminal accepted; 0 while its program does not read. The write is synchronous: by the time
 * a thread of the pool ran it, the descriptor could be closed and its number belong to another file.
 */
function writeSome(master: number, data: Uint8Array): number {
  try {
    return writeSync(master, data)
  } catch (error) {
    if (systemErrorCode(error) === 'EAGAIN') return 0
    throw new VitrineError('input_closed', 'The process has closed its input.', { cause: error })
  }
}
