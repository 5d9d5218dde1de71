import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { permit } from './permission.ts'
import { openTool, textContent } from './tool-call.ts'
import type { Turn } from './turn.ts'

/** The file's text; the client is asked when it offers that. */
export async function readText(turn: Turn, path: string): Promise<string> {
  const place = resolve(turn.session.cwd, path)
  if (!turn.offered.fs?.readTextFile) return readFile(place, 'utf8')
  const { content } = await turn.request('fs/read_text_file', { sessionId: turn.session.id, path: place })
  return content
}

/** The same for what may not be there. */
export async function readIfThere(turn: Turn, path: string): Promise<string | undefined> {
  try {
    return await readText(turn, path)
  } catch {
    turn.signal.throwIfAborted()
    return undefined
  }
}

async function writeText(turn: Turn, path: string, content: string): Promise<void> {
  if (turn.offered.fs?.writeTextFile) {
    await turn.request('fs/write_text_file', { sessionId: turn.session.id, path, content })
    return
  }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** How an attempt ended; `refused` by the user or by the mode. */
export type Attempt = 'done' | 'refused' | 'failed'

/** A file is written as agents do it: shown as a difference, asked for, done. */
export async function editFile(turn: Turn, path: string, newText: string): Promise<Attempt> {
  const place = resolve(turn.session.cwd, path)
  const oldText = (await readIfThere(turn, place)) ?? null
  const shown = relative(turn.session.cwd, place)
  const tool = await openTool(turn, {
    title: `${oldText === null ? 'Write' : 'Edit'} ${shown}`,
    kind: 'edit',
    locations: [{ path: place }],
    content: [{ type: 'diff', path: place, oldText, newText }],
    rawInput: { path: place, content: newText },
  })
  if (turn.session.mode === 'plan') {
    await tool.fail('Mode plan: nothing is written.')
    return 'refused'
  }
  await turn.pause(150)
  if ((await permit(turn, tool.call, 'edit')) === 'reject') {
    await tool.fail('The user said no.')
    return 'refused'
  }
  await tool.update({ status: 'in_progress' })
  try {
    await writeText(turn, place, newText)
  } catch (error) {
    await tool.fail(messageOf(error))
    return 'failed'
  }
  await tool.complete({ rawOutput: { bytes: Buffer.byteLength(newText) } })
  return 'done'
}

/** A file is read as a tool call; its text, if there is one. */
export async function showFile(turn: Turn, path: string): Promise<string | undefined> {
  const place = resolve(turn.session.cwd, path)
  const tool = await openTool(turn, {
    title: `Read ${relative(turn.session.cwd, place)}`,
    kind: 'read',
    status: 'in_progress',
    locations: [{ path: place }],
    rawInput: { path: place },
  })
  try {
    const text = await readText(turn, place)
    await tool.complete({ content: [textContent(text)] })
    return text
  } catch (error) {
    await tool.fail(messageOf(error))
    return undefined
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
