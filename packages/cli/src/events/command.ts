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
  const events = program.command('events').description('The events of a daemon that runs.')
  events
    .command('tail')
    .description('What happened and what happens, one line an event, until Ctrl-C.')
    .option('--url <url>', 'the daemon; without it, the one that runs on the data directory')
    .option('--token <token>', 'the token for it (VITRINE_TOKEN)')
    .option('--data <folder>', 'the data directory of the daemon')
    .option('--sandbox <id>', "one sandbox; without it, the daemon's default")
    .option('--all', 'every sandbox, and the host itself')
    .option('--types <types>', 'only these types or families, separated by commas', words)
    .option('--session <id>', 'only those of one session')
    .option('--text <text>', 'only those with this text somewhere in them')
    .option('--after <cursor>', 'only what comes after this cursor; "now" for what is to come')
    .option('--json', 'each event as one line of JSON')
    .addHelpText('after', help)
    .action(async (flags: TailFlags) => {
      const { tailEvents } = await import('./tail.ts')
      await tailEvents(flags)
    })
}

function words(text: string): string[] {
  return text.split(',').filter((word) => word !== '')
}

const help = `
Examples:
  $ vitrine events tail
  $ vitrine events tail --all --after now
  $ vitrine events tail --types 'file.*,turn.finished' --json | jq .data`
