import { type Command, InvalidArgumentError, Option } from 'commander'
import { logLevels } from './access-log.ts'
import { addListenFlags, collect, defaultPort, type ListenFlags, parseAboveZero } from './flags.ts'
import { omittable } from './journaling.ts'
import type { DaemonOptions } from './start.ts'

type ServeFlags = ListenFlags & Omit<DaemonOptions, 'host' | 'ports' | 'data'> & { readonly json?: boolean }

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description(
      'Runs a daemon: sandboxes, agents and their journal over HTTP, by default for this machine only.',
    )
  addListenFlags(command)
    .option(
      '--token <token>',
      'a token with full access, as token or name=token; repeatable (VITRINE_TOKEN)',
      collect,
    )
    .option('--read-token <token>', 'a token with read access, as token or name=token; repeatable', collect)
    .option('--no-token', 'accept requests without a token; only on a loopback address')
    .option(
      '--root <dir>',
      'the workspace of the default sandbox; without it, a new directory in the data directory',
    )
    .addOption(
      new Option('--isolation <kind>', 'how sandboxes are isolated')
        .choices(['auto', 'bubblewrap', 'none'])
        .default('auto'),
    )
    .option('--agent <name=command>', 'an agent of your own; repeatable', collect)
    .option('--cors <origin>', 'a web origin whose pages may call the daemon; repeatable', collect)
    .option(
      '--allow-host <name>',
      'a host name to accept beside IP addresses and localhost; repeatable',
      collect,
    )
    .option('--allow-unisolated', 'accept other machines even if sandboxes are not isolated')
    .option(
      '--forget-unreadable-secrets',
      'start although stored values to mask cannot be read; earlier credentials are then not masked any more',
    )
    .addOption(
      new Option(
        '--retention-bytes <bytes>',
        'how large each journal may get; output is removed first (default: 1 GiB)',
      ).argParser(parseAboveZero),
    )
    .addOption(
      new Option('--retention-days <days>', 'how old events may get (default: any age)').argParser(
        parseAboveZero,
      ),
    )
    .option(
      '--audit-log <file>',
      'also write every event, without output, to this file of JSON lines; it is rotated',
    )
    .option(
      '--workspace-log <path>',
      'also write the events of each sandbox, without output, to this file in its workspace; {sandbox} is its id',
    )
    .addOption(
      new Option(
        '--omit <part>',
        `a part of events that is not recorded: ${omittable.join(', ')}; repeatable`,
      ).argParser(collectPart),
    )
    .addOption(
      new Option('--log-level <level>', 'what is logged to stderr; info logs each request, without queries')
        .choices(logLevels)
        .default('error'),
    )
    .option('--json', 'print one line of JSON: url, token and data')
    .addHelpText('after', help)
    .action(async ({ json = false, port = defaultPort, ...options }: ServeFlags) => {
      const [{ runDaemon }, { greeting, machineLine }] = await Promise.all([
        import('./run.ts'),
        import('./announce.ts'),
      ])
      await runDaemon({ ...options, ports: [port] }, async (daemon) => {
        if (json) console.log(machineLine(daemon))
        else for await (const line of greeting(daemon, options.host)) console.log(line)
      })
    })
}

function collectPart(value: string, before: unknown): string[] {
  if (!(omittable as readonly string[]).includes(value))
    throw new InvalidArgumentError(`Expected one of ${omittable.join(', ')}.`)
  return collect(value, before)
}

const help = `
Without --token or VITRINE_TOKEN, a token is generated once and stored in <data>/token, which only you can read.
Every user of this machine can read a token on the command line in the process list.
The default port is ${defaultPort}.

Examples:
  $ vitrine serve
  $ vitrine serve --port 0 --json
  $ vitrine serve --retention-days 30 --audit-log /var/log/vitrine.jsonl
  $ vitrine serve --root . --agent mine='node agent.mjs'
  $ VITRINE_TOKEN=… vitrine serve --host 0.0.0.0 --allow-host box.example --read-token screen=…`
