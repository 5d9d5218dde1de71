import { type ChildProcess, spawn } from 'node:child_process'
import { constants, openSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { fileURLToPath } from 'node:url'

export interface RawTerminal {
  readonly screen: ReadStream
  readonly child: ChildProcess
}

/** A terminal without journal, viewers or operations. */
export function rawTerminal(command: string): RawTerminal {
  const name = `vitrine-machine-linux-${process.arch}`
  const program = fileURLToPath(new URL(`../../../packages/sandbox/native/${name}`, import.meta.url))
  const master = openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY)
  const screen = new ReadStream(master)
  // The kernel returns EIO when the last program has closed the terminal.
  screen.on('error', () => screen.destroy())
  const args = ['run', 'privileges=keep', 'cols=80', 'rows=24', 'cwd=/', '--', 'sh', '-c', command]
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', master, 'ignore'],
  })
  return { screen, child }
}
