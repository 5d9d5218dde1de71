import { spawn } from 'node:child_process'
import { constants, openSync, writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReadStream } from 'node:tty'
import { VitrineError } from '@vitrine/protocol'
import type { Launch, LaunchedTerminal, WaitStatus } from './machine.ts'
import { begun, type Program, spawnOrExplain } from './pipes.ts'

/** Where a program that takes the other end finds it: the first descriptor after the three streams. */
const hostEnd = 3

interface StartedTerminal {
  readonly pid: number
  readonly terminal: LaunchedTerminal
  readonly ended: Promise<WaitStatus>
  readonly report: Readable | undefined
}

/** Starts `vitrine-machine` with a new terminal. `multiplexer` is the `ptmx` that makes it. */
export async function startWithTerminal(
  { file, args, env }: Program,
  multiplexer: string,
  launch: Launch,
): Promise<StartedTerminal> {
  const master = openMultiplexer(multiplexer)
  const screen = new ReadStream(master)
  // The kernel says EIO when the last program has closed the terminal: that is its end, not an error.
  screen.on('error', () => screen.destroy())
  try {
    const child = spawnOrExplain(launch, file, args, {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', master, 'pipe'],
    })
    const { pid, ended } = await begun(child, launch)
    const report = child.stdio[4]
    return {
      pid,
      ended,
      terminal: onScreen(screen, file, master),
      report: report instanceof Readable ? report : undefined,
    }
  } catch (error) {
    screen.destroy()
    throw error
  }
}

function onScreen(screen: ReadStream, file: string, master: number): LaunchedTerminal {
  let typing: Promise<void> = Promise.resolve()
  return {
    onData: (listener) => void screen.on('data', listener),
    write: (data) => {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      typing = typing.catch(() => undefined).then(() => type(screen, master, bytes))
      return typing
    },
    resize: async (cols, rows) => {
      if (screen.destroyed) throw new VitrineError('process_exited', 'The terminal is closed.')
      await resize(file, master, cols, rows)
    },
    pause: () => void screen.pause(),
    resume: () => void screen.resume(),
    close: () => void screen.destroy(),
    closed: new Promise((settle) => screen.once('close', settle)),
  }
}

function openMultiplexer(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  } catch (error) {
    const message = `No terminal to be had: ${error instanceof Error ? error.message : String(error)}.`
    throw new VitrineError('terminal_unavailable', message, { cause: error })
  }
}

/** Node cannot tell a terminal its size; the small program can. */
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

/** libuv writes to the host's end of a terminal with a call that blocks; this one never does. */
async function type(screen: ReadStream, master: number, data: Uint8Array): Promise<void> {
  for (let rest = data; rest.length > 0; ) {
    if (screen.destroyed) throw new VitrineError('input_closed', 'The process has closed its input.')
    const written = writeSome(master, rest)
    rest = rest.subarray(written)
    if (written === 0) await sleep(busyMs)
  }
}

/**
 * How many bytes the terminal took; 0 while its program does not read. At once and not in a thread: by the time that
 * one gets to it, the descriptor may be closed and its number another file's.
 */
function writeSome(master: number, data: Uint8Array): number {
  try {
    return writeSync(master, data)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0
    throw new VitrineError('input_closed', 'The process has closed its input.', { cause: error })
  }
}
