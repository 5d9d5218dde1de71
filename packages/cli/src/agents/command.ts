import type { Command } from 'commander'

interface DataFlag {
  readonly data?: string
}

interface InstallFlags extends DataFlag {
  readonly all?: boolean
  readonly agentVersion?: string
}

export function addAgents(program: Command): void {
  const agents = program
    .command('agents')
    .description('Lists the known agents: whether each is installed and which credentials were found.')
    .option('--data <dir>', 'the data directory of the host')
    .addHelpText('after', '\nExamples:\n  $ vitrine agents\n  $ vitrine agents install claude codex')
    .action(async ({ data }: DataFlag) => {
      const { agentTable } = await import('./list.ts')
      for (const line of await agentTable(data)) console.log(line)
    })

  agents
    .command('install')
    .description('Installs agents ahead of time, each in its own sandbox, and starts each once to check it.')
    .argument('[names...]')
    .option('--all', 'install every agent that can be installed')
    .option('--agent-version <version>', 'a version other than the pinned one')
    .option('--data <dir>', 'the data directory of the host')
    .addHelpText('after', '\nExamples:\n  $ vitrine agents install claude\n  $ vitrine agents install --all')
    .action(async (names: string[], options: InstallFlags, command: Command) => {
      const { installAgents } = await import('./install.ts')
      const { all = false, agentVersion: version, data = command.parent?.opts().data } = options
      await installAgents({
        names,
        all,
        ...(version && { version }),
        ...(data !== undefined && { data }),
        print: (line) => console.log(line),
      })
    })
}
