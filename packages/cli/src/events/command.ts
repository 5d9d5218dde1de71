import type { Command } from 'commander'

export interface TailFlags {
  readonly url?: string
  readonly token?: string
  readonly data?: string
  readonly sandbox?: string
  readonly all?: boolean
  readonly types?: readonly string[]
  readonly session?: string
  readonly text?: string
  readonly after?: string
  readonly json?: boolean
}

export function addEvents(program: Command): void {
  const events = program.command('events').description('Reads the events of a running daemon.')
  events
    .command('tail')
    .description('Prints past events, then new ones as they happen, one per line, until Ctrl-C.')
    .option('--url <url>', 'the URL of the daemon; without it, the daemon that runs on the data directory')
    .option('--token <token>', 'the token to call the daemon with (VITRINE_TOKEN)')
    .option('--data <dir>', 'the data directory of the daemon')
    .option('--sandbox <id>', "events of this sandbox; without it, the daemon's default sandbox")
    .option('--all', 'events of every sandbox and of the host')
    .option(
      '--types <types>',
      'only events of these types, separated by commas; * matches the rest of a name',
      commaSeparated,
    )
    .option('--session <id>', 'only events of this session')
    .option('--text <text>', 'only events that contain this text')
    .option('--after <cursor>', 'only events after this cursor; "now" for new events only')
    .option('--json', 'print each event as one line of JSON')
    .addHelpText('after', help)
    .action(async (flags: TailFlags) => {
      const { tailEvents } = await import('./tail.ts')
      await tailEvents(flags)
    })
}

function commaSeparated(text: string): string[] {
  return text.split(',').filter((part) => part !== '')
}

const help = `
Examples:
  $ vitrine events tail
  $ vitrine events tail --all --after now
  $ vitrine events tail --types 'file.*,turn.finished' --json | jq .data`
