import { type Command, InvalidArgumentError, Option } from 'commander'

/** Where a daemon is and keeps its things; `serve` and `up` have them alike. */
export function addPlaceFlags(command: Command): Command {
  return command
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(new Option('--port <number>', 'the port; 0 for any that is free').argParser(parsePort))
    .option('--data <folder>', 'where everything is kept; by default the data directory of this user')
}

export interface PlaceFlags {
  readonly host: string
  readonly port?: number
  readonly data?: string
}

export const defaultPort = 2468

/** For flags that may be given several times. */
export function collect(value: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before : []), value]
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a number from 0 to 65535.')
}
