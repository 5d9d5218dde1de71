import { type Command, Option } from 'commander'
import type { AskOptions } from './ask.ts'

type AskFlags = Omit<AskOptions, 'prompt' | 'events' | 'width' | 'write'> & { readonly events?: boolean }

export function addAsk(program: Command): void {
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
    .addHelpText('after', help)
    .action(async (prompt: string, { events = false, ...rest }: AskFlags) => {
      const { ask } = await import('./ask.ts')
      const width = process.stdout.columns || 120
      await ask({ ...rest, prompt, events, width, write: (text) => void process.stdout.write(text) })
    })
}

function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices)
}

const help = `
Examples:
  $ vitrine ask "Build me a landing page"
  $ vitrine ask "Explain this project" --agent claude --credentials env --root .
  $ vitrine ask "Hello" --agent mine='node agent.mjs'`
