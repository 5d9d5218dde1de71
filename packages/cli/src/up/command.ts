import type { Command } from 'commander'
import { addPlaceFlags, defaultPort, type PlaceFlags } from '../serve/flags.ts'

export function addUp(program: Command): void {
  const command = program
    .command('up')
    .description('A daemon with everything default, and an agent at work in it: one link to look inside.')
  addPlaceFlags(command)
    .addHelpText('after', help)
    .action(async ({ port, host, data }: PlaceFlags) => {
      const { up } = await import('./up.ts')
      await up({
        host,
        ports: port === undefined ? [defaultPort, 0] : [port],
        ...(data !== undefined && { data }),
        print: (line) => console.log(line),
      })
    })
}

const help = `
Where a daemon of that data directory runs already, its link is printed.
Without --port it is ${defaultPort}, or any that is free where that one is taken.

Examples:
  $ vitrine up
  $ vitrine up --port 8080 --data ./data`
