import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { sendPlan } from '../commands/messages.ts'
import { editFile, messageOf, readIfExists } from '../files.ts'
import { runCommand } from '../shell.ts'
import { openTool, textContent } from '../tool-call.ts'
import type { Turn } from '../turn.ts'
import { reportUsage } from '../usage.ts'
import { firstLine, isDemoFile, type Tale, taleFor } from './tale.ts'

const introduction = 'I am only the demo agent: no model, no network. `/help` lists what else I can do.'

/** Runs the story for a plain prompt: thoughts, a plan, a file, a permission and a command, all of them real. */
export async function tellStory(turn: Turn): Promise<void> {
  const tale = taleFor(turn.text)
  if (turn.session.title === undefined) await turn.setTitle(firstLine(turn.text, 60) || 'A quiet visit')
  await think(turn, tale)
  await sendPlan(turn, tale.steps, 0)
  await turn.sayInChunks(tale.greeting)
  await lookAround(turn)
  await sendPlan(turn, tale.steps, 1)
  const { file, before } = await chooseFile(turn, tale)
  const attempt = await editFile(turn, file, tale.text(before))
  if (attempt !== 'done') {
    await turn.sayInChunks(withoutFile(turn, file, attempt))
    await reportUsage(turn)
    return
  }
  await sendPlan(turn, tale.steps, 2)
  await turn.pause(100)
  await runCommand(turn, { line: tale.check(file), effect: 'reads' })
  await sendPlan(turn, tale.steps, 3)
  const more = turn.session.choices.model === 'storyteller' ? `\n\n${introduction}` : ''
  await turn.sayInChunks(tale.ending(file) + more)
  await reportUsage(turn)
}

async function think(turn: Turn, tale: Tale): Promise<void> {
  const level = turn.session.choices.thought_level
  const messageId = randomUUID()
  const shown = level === 'off' ? [] : level === 'low' ? tale.thoughts.slice(0, 2) : tale.thoughts
  for (const thought of shown) {
    await turn.think(thought, messageId)
    await turn.pause(180)
  }
}

async function lookAround(turn: Turn): Promise<void> {
  const { cwd } = turn.session
  const tool = await openTool(turn, {
    title: 'List the workspace',
    kind: 'read',
    status: 'in_progress',
    locations: [{ path: cwd }],
    rawInput: { path: cwd },
  })
  await turn.pause(250)
  try {
    const names = (await readdir(cwd)).filter((name) => !name.startsWith('.')).sort()
    await tool.complete({ content: [textContent(listed(names))], rawOutput: { entries: names.length } })
  } catch (error) {
    turn.signal.throwIfAborted()
    await tool.fail(messageOf(error))
  }
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'Nothing here yet.'
  const more = names.length > 20 ? `\n… and ${names.length - 20} more` : ''
  return names.slice(0, 20).join('\n') + more
}

/** Chooses a free file name or a file of an earlier story, and never a file of the user. */
async function chooseFile(turn: Turn, tale: Tale): Promise<{ file: string; before: string | undefined }> {
  for (let n = 1; ; n++) {
    const file = n === 1 ? tale.file : tale.file.replace('.', `-${n}.`)
    const before = await readIfExists(turn, file)
    if (before === undefined || isDemoFile(before)) return { file, before }
  }
}

function withoutFile(turn: Turn, file: string, attempt: 'refused' | 'failed'): string {
  if (turn.session.mode === 'plan')
    return `That is the plan: I would write ${file}. Change the mode, and I will.`
  return attempt === 'refused'
    ? `All right, I leave ${file} alone. Nothing was changed.`
    : `I could not write ${file}; the tool call shows the reason. Nothing was changed.`
}
