import { type Command, Option } from 'commander'
import type { AskOptions } from './ask.ts'

type AskFlags = Omit<AskOptions, 'prompt' | 'events' | 'width' | 'write'> & { readonly events?: boolean }

export function addAsk(program: Command): void {
  program
    .command('ask')
    .description('Sends one prompt to one agent in a new sandbox, then lists the files it changed.')
    .argument('<prompt>')
    .option('-a, --agent <name>', "a known agent, or one of your own as name='command'", 'demo')
    .option('--root <dir>', 'the workspace; without it, a temporary directory that is removed afterwards')
    .addOption(
      choice('--isolation <kind>', 'how the sandbox is isolated', ['auto', 'bubblewrap', 'none']).default(
        'auto',
      ),
    )
    .addOption(
      choice('--permissions <rule>', "the answer to the agent's permission requests", [
        'allow',
        'deny',
      ]).default('allow'),
    )
    .addOption(
      choice('--credentials <grant>', "which of this machine's credentials the agent gets", [
        'env',
        'host',
        'none',
      ]),
    )
    .option('--model <name>')
    .option('--mode <name>')
    .option('--events', "print every event of the session instead of the agent's messages")
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
