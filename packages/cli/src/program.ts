import { version } from '@vitrine/protocol'
import { Command } from 'commander'
import { addAgents } from './agents/command.ts'
import { addAsk } from './ask/command.ts'
import { addDemo } from './demo/command.ts'
import { addEvents } from './events/command.ts'
import { addServe } from './serve/command.ts'
import { addUp } from './up/command.ts'

/** The `vitrine` command. What a command does is loaded when it is called. */
export function createProgram(): Command {
  const program = new Command('vitrine')
    .description('Runs coding agents in sandboxes you can see into.')
    .version(version)
    .showHelpAfterError('(run "vitrine --help" for what there is)')
  for (const add of [addUp, addServe, addEvents, addDemo, addAsk, addAgents]) add(program)
  return program
}
