import { type Command, Option } from 'commander'
import { addPlaceFlags, collect, defaultPort, type PlaceFlags } from './flags.ts'
import type { DaemonOptions } from './start.ts'

type ServeFlags = PlaceFlags & Omit<DaemonOptions, 'host' | 'ports' | 'data'> & { readonly json?: boolean }

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('A daemon: sandboxes, agents and their journal over HTTP, on this machine only unless said.')
  addPlaceFlags(command)
    .option('--token <token>', 'who may call, as token or name=token; repeatable (VITRINE_TOKEN)', collect)
    .option('--read-token <token>', 'who may only look on, as token or name=token; repeatable', collect)
    .option('--no-token', 'nobody needs a token; only where no other machine gets in')
    .option('--root <folder>', 'the workspace of the default sandbox; without one, a folder of its own')
    .addOption(
      new Option('--isolation <kind>', 'what sandboxes run in')
        .choices(['auto', 'bubblewrap', 'none'])
        .default('auto'),
    )
    .option('--agent <name=command>', 'an agent of your own; repeatable', collect)
    .option('--cors <origin>', 'whose pages may call; repeatable', collect)
    .option(
      '--allow-host <name>',
      'a name it answers to, beside addresses and localhost; repeatable',
      collect,
    )
    .option('--allow-unisolated', 'lets other machines in although nothing isolates sandboxes')
    .option('--json', 'one line of JSON on stdout: url, token and data')
    .addHelpText('after', help)
    .action(async ({ json = false, port = defaultPort, ...options }: ServeFlags) => {
      const [{ runDaemon }, { greeting, machineLine }] = await Promise.all([
        import('./run.ts'),
        import('./announce.ts'),
      ])
      await runDaemon({ ...options, ports: [port] }, (daemon) => {
        for (const line of json ? [machineLine(daemon)] : greeting(daemon, options.host)) console.log(line)
      })
    })
}

const help = `
Without --token or VITRINE_TOKEN the token is made once and kept in <data>/token, which only you can read.
A token on the command line is seen by whoever lists the processes of this machine.
Without --port it is ${defaultPort}.

Examples:
  $ vitrine serve
  $ vitrine serve --port 0 --json
  $ vitrine serve --root . --agent mine='node agent.mjs'
  $ VITRINE_TOKEN=… vitrine serve --host 0.0.0.0 --allow-host box.example --read-token screen=…`
