import { RequestedError } from './commands/messages.ts'
import { findCommand } from './commands/table.ts'
import { messageOf } from './files.ts'
import { readCommands } from './prompt.ts'
import { tellStory } from './story/tell.ts'
import type { Turn } from './turn.ts'

/** Runs the commands of the prompt in order, or the story for a prompt without commands. */
export async function respond(turn: Turn): Promise<void> {
  const lines = readCommands(turn.text, (name) => findCommand(name) !== undefined)
  if (lines.length === 0) return tellStory(turn)
  for (const { name, argument } of lines) {
    turn.signal.throwIfAborted()
    const command = findCommand(name)
    if (command === undefined) await turn.say(`Unknown command /${name}; /help lists all commands.`)
    else await attempt(turn, () => command.run(turn, argument))
  }
}

/** Reports the error of a command as a message; only `/error` ends the turn with an error. */
async function attempt(turn: Turn, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    turn.signal.throwIfAborted()
    if (error instanceof RequestedError) throw error
    await turn.say(messageOf(error))
  }
}
