import { startDetached } from '../child-process.ts'
import { editFile, showFile } from '../files.ts'
import { firstWord } from '../prompt.ts'
import { runCommand } from '../shell.ts'
import type { Turn } from '../turn.ts'

export async function write(turn: Turn, argument: string): Promise<void> {
  const [path, text] = firstWord(argument)
  const attempt = await editFile(turn, path, text)
  await turn.say(attempt === 'done' ? `Wrote ${path}.` : `Did not write ${path}: ${attempt}.`)
}

export async function read(turn: Turn, argument: string): Promise<void> {
  const text = await showFile(turn, argument)
  await turn.say(text === undefined ? `Could not read ${argument}.` : text)
}

export async function run(turn: Turn, argument: string): Promise<void> {
  const { attempt, ended } = await runCommand(turn, { line: argument, effect: 'changes' })
  if (ended === undefined) await turn.say(`Did not run it: ${attempt}.`)
  else await turn.say(`Ended with ${ended.signal ?? ended.exitCode}.`)
}

export async function leaveProcess(turn: Turn, argument: string): Promise<void> {
  const pid = startDetached(argument || 'sleep 60', turn.session.cwd)
  await turn.say(pid === undefined ? 'Could not start it.' : `Left process ${pid} running.`)
}
