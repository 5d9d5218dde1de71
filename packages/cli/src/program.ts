import { version } from '@vitrine/protocol'
import { Command } from 'commander'
import { addAgents } from './agents/command.ts'
import { addAsk } from './ask/command.ts'
import { addEvents } from './events/command.ts'
import { addServe } from './serve/command.ts'
import { addUp } from './up/command.ts'

/** The `vitrine` command. Each subcommand loads its implementation when it is called. */
export function createProgram(): Command {
  const program = new Command('vitrine')
    .description('Runs coding agents in sandboxes you can see into.')
    .version(version)
    .showHelpAfterError('(run "vitrine --help" to list the commands)')
  for (const add of [addUp, addServe, addEvents, addAsk, addAgents]) add(program)
  return program
}
