import { type Command, InvalidArgumentError, Option } from 'commander'

/** Adds the flags that `serve` and `up` share: address, port and data directory. */
export function addListenFlags(command: Command): Command {
  return command
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(new Option('--port <number>', 'the port; 0 for any free port').argParser(parsePort))
    .option('--data <dir>', 'the data directory; by default that of this user')
}

export interface ListenFlags {
  readonly host: string
  readonly port?: number
  readonly data?: string
}

export const defaultPort = 2468

/** For flags that may be given several times. */
export function collect(value: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before : []), value]
}

export function parseAboveZero(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value
  throw new InvalidArgumentError('Expected a number above 0.')
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a number from 0 to 65535.')
}
