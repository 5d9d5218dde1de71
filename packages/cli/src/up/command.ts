import type { Command } from 'commander'
import { addListenFlags, defaultPort, type ListenFlags } from '../serve/flags.ts'

export function addUp(program: Command): void {
  const command = program
    .command('up')
    .description(
      'Starts a daemon with default settings and the demo agent in it, and prints one link to the Inspector.',
    )
  addListenFlags(command)
    .addHelpText('after', help)
    .action(async ({ port, host, data }: ListenFlags) => {
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
If a daemon already runs on that data directory, its link is printed.
In a clone of Vitrine, the data directory is .vitrine in the clone, which git ignores.
The default port is ${defaultPort}, or any free one if that is in use.

Examples:
  $ vitrine up
  $ vitrine up --port 8080 --data ./data`
