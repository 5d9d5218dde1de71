import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { permit } from './permission.ts'
import { openTool, textContent } from './tool-call.ts'
import type { Turn } from './turn.ts'

/** Reads a file, through the client if it offers that. */
export async function readText(turn: Turn, path: string): Promise<string> {
  const absolute = resolve(turn.session.cwd, path)
  if (!turn.clientCapabilities.fs?.readTextFile) return readFile(absolute, 'utf8')
  const { content } = await turn.request('fs/read_text_file', { sessionId: turn.session.id, path: absolute })
  return content
}

/** Reads a file; undefined when it cannot be read. */
export async function readIfExists(turn: Turn, path: string): Promise<string | undefined> {
  try {
    return await readText(turn, path)
  } catch {
    turn.signal.throwIfAborted()
    return undefined
  }
}

async function writeText(turn: Turn, path: string, content: string): Promise<void> {
  if (turn.clientCapabilities.fs?.writeTextFile) {
    await turn.request('fs/write_text_file', { sessionId: turn.session.id, path, content })
    return
  }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** The outcome of a tool call; `refused` by the user or by the mode. */
export type AttemptOutcome = 'done' | 'refused' | 'failed'

/** Writes a file as a tool call with a diff and a permission request. */
export async function editFile(turn: Turn, path: string, newText: string): Promise<AttemptOutcome> {
  const absolute = resolve(turn.session.cwd, path)
  const oldText = (await readIfExists(turn, absolute)) ?? null
  const shown = relative(turn.session.cwd, absolute)
  const tool = await openTool(turn, {
    title: `${oldText === null ? 'Write' : 'Edit'} ${shown}`,
    kind: 'edit',
    locations: [{ path: absolute }],
    content: [{ type: 'diff', path: absolute, oldText, newText }],
    rawInput: { path: absolute, content: newText },
  })
  if (turn.session.mode === 'plan') {
    await tool.fail('Mode plan: nothing is written.')
    return 'refused'
  }
  await turn.pause(150)
  if ((await permit(turn, tool.call, 'edit')) === 'reject') {
    await tool.fail('The user rejected it.')
    return 'refused'
  }
  await tool.update({ status: 'in_progress' })
  try {
    await writeText(turn, absolute, newText)
  } catch (error) {
    await tool.fail(messageOf(error))
    return 'failed'
  }
  await tool.complete({ rawOutput: { bytes: Buffer.byteLength(newText) } })
  return 'done'
}

/** Reads a file as a tool call; undefined when it cannot be read. */
export async function showFile(turn: Turn, path: string): Promise<string | undefined> {
  const absolute = resolve(turn.session.cwd, path)
  const tool = await openTool(turn, {
    title: `Read ${relative(turn.session.cwd, absolute)}`,
    kind: 'read',
    status: 'in_progress',
    locations: [{ path: absolute }],
    rawInput: { path: absolute },
  })
  try {
    const text = await readText(turn, absolute)
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
