import type { Host } from '@vitrine/host'
import { Command, Option } from 'commander'
import { type AskOptions, ask } from './agents/ask.ts'
import { installAgents } from './agents/install.ts'
import { agentTable } from './agents/list.ts'
import { demo } from './demo/demo.ts'
import { addEvents } from './events/command.ts'
import { addServe } from './serve/command.ts'
import { addUp } from './up/command.ts'
import { version } from './version.ts'

/** The `vitrine` command. */
export function createProgram(): Command {
  const program = new Command('vitrine')
    .description('Runs coding agents in sandboxes you can see into.')
    .version(version)
    .showHelpAfterError('(run "vitrine --help" for what there is)')

  addUp(program)
  addServe(program)
  addEvents(program)

  program
    .command('demo')
    .description('Real operations on real files in a temporary folder, the journal scrolling by.')
    .option('--keep', 'leave the folder behind, to look at the journal and the audit log')
    .option('--fast', 'without pauses for reading (the default when the output is not a terminal)')
    .addHelpText('after', '\nExamples:\n  $ vitrine demo\n  $ vitrine demo --fast --keep')
    .action(async (options: { keep?: boolean; fast?: boolean }) => {
      const pauseMs = options.fast || !process.stdout.isTTY ? 0 : 120
      await demo({
        keep: options.keep ?? false,
        pauseMs,
        print: (line) => console.log(line),
        // A terminal that does not know its size says 0.
        width: process.stdout.columns || 120,
      })
    })

  program
    .command('ask')
    .description('One prompt to one agent in a sandbox of its own; then what it changed.')
    .argument('<prompt>')
    .option('-a, --agent <name>', "a known agent, or one of your own as name='command'", 'demo')
    .option('--root <folder>', 'the workspace; without one, a folder that is gone afterwards')
    .addOption(
      choice('--isolation <kind>', 'what it runs in', ['auto', 'bubblewrap', 'none']).default('auto'),
    )
    .addOption(
      choice('--permissions <rule>', 'what it is answered when it asks', ['allow', 'deny']).default('allow'),
    )
    .addOption(
      choice('--credentials <grant>', "what it gets of this machine's logins", ['env', 'host', 'none']),
    )
    .option('--model <name>')
    .option('--mode <name>')
    .option('--events', 'every event of the session instead of what the agent says')
    .addHelpText(
      'after',
      `
Examples:
  $ vitrine ask "Build me a landing page"
  $ vitrine ask "Explain this project" --agent claude --credentials env --root .
  $ vitrine ask "Hello" --agent mine='node agent.mjs'`,
    )
    .action(async (prompt: string, options: AskFlags) => {
      const { events = false, ...rest } = options
      const width = process.stdout.columns || 120
      await ask({ ...rest, prompt, events, width, write: (text) => void process.stdout.write(text) })
    })

  const agents = program
    .command('agents')
    .description('The agents there are: what is installed, and which credentials they find.')
    .option('--data <folder>', 'the data directory of the host')
    .addHelpText('after', '\nExamples:\n  $ vitrine agents\n  $ vitrine agents install claude codex')
    .action(async ({ data }: DataFlag) => {
      // Beside a host that runs: nothing of it is opened.
      const { listAgents } = await import('@vitrine/host')
      const agents = await listAgents({ ...(data !== undefined && { data }) })
      for (const line of agentTable(agents)) console.log(line)
    })

  agents
    .command('install')
    .description('Installs agents ahead of time, each in a sandbox of its own, and tries them there.')
    .argument('[names...]')
    .option('--all', 'every agent that can be installed')
    .option('--agent-version <version>', 'another version than the one that is pinned')
    .option('--data <folder>', 'the data directory of the host')
    .addHelpText('after', '\nExamples:\n  $ vitrine agents install claude\n  $ vitrine agents install --all')
    .action(async (names: string[], options: InstallFlags, command: Command) => {
      const { all = false, agentVersion: version, data = command.parent?.opts().data } = options
      await withHost(data, (host) =>
        installAgents(host, { names, all, ...(version && { version }), print: (line) => console.log(line) }),
      )
    })

  return program
}

interface DataFlag {
  readonly data?: string
}

interface InstallFlags extends DataFlag {
  readonly all?: boolean
  readonly agentVersion?: string
}

type AskFlags = Omit<AskOptions, 'prompt' | 'events' | 'width' | 'write'> & { readonly events?: boolean }

function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices)
}

async function withHost(data: string | undefined, run: (host: Host) => Promise<void>): Promise<void> {
  const { openHost } = await import('@vitrine/host')
  await using host = await openHost({ ...(data !== undefined && { data }) })
  await run(host)
}
