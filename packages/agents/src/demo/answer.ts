import { ErrorAsAsked } from './commands/speak.ts'
import { findCommand } from './commands/table.ts'
import { messageOf } from './files.ts'
import { readCommands } from './prompt.ts'
import { tellStory } from './story/tell.ts'
import type { Turn } from './turn.ts'

/** Does what the prompt says: its commands in order, or a story. */
export async function answer(turn: Turn): Promise<void> {
  const lines = readCommands(turn.text, (name) => findCommand(name) !== undefined)
  if (lines.length === 0) return tellStory(turn)
  for (const { name, argument } of lines) {
    turn.signal.throwIfAborted()
    const command = findCommand(name)
    if (command === undefined) await turn.say(`I do not know /${name}; /help lists what I know.`)
    else await attempt(turn, () => command.run(turn, argument))
  }
}

/** A command that cannot be done is said to be so; only `/error` ends the turn with an error. */
async function attempt(turn: Turn, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    turn.signal.throwIfAborted()
    if (error instanceof ErrorAsAsked) throw error
    await turn.say(messageOf(error))
  }
}
