import type { HostSandbox, ScriptSandboxOptions } from '@vitrine/host'
import { type JournalEvent, type Session, VitrineError } from '@vitrine/protocol'
import { changedFilesView, listChangedFiles, rebuild } from '@vitrine/views'
import pc from 'picocolors'
import { paintEvent } from '../paint.ts'

export interface AskOptions {
  readonly prompt: string
  /** A known name, or `name=command`. */
  readonly agent: string
  readonly root?: string
  readonly isolation: 'auto' | 'bubblewrap' | 'none'
  readonly permissions: 'allow' | 'deny'
  readonly credentials?: 'env' | 'host' | 'none'
  readonly model?: string
  readonly mode?: string
  /** Every event instead of what the agent says. */
  readonly events: boolean
  readonly width: number
  readonly write: (text: string) => void
}

/** One prompt to one agent in a sandbox of its own. */
export async function ask(options: AskOptions): Promise<void> {
  const { createSandbox, local, parseAgent } = await import('@vitrine/host')
  const { agent, root, isolation } = options
  const own = agent.includes('=') ? parseAgent(agent) : undefined
  const script: ScriptSandboxOptions = {
    provider: local({ isolation, ...(root !== undefined && { root }) }),
    ...(own && { agents: [own] }),
    onInstall: ({ message }) => options.write(pc.dim(`${message}\n`)),
  }
  await using sandbox = await createSandbox(script)
  const session = await sandbox.openSession({
    agent: own?.name ?? agent,
    permissions: options.permissions,
    ...(options.credentials && { credentials: options.credentials }),
    ...(options.model && { model: options.model }),
    ...(options.mode && { mode: options.mode }),
  })
  const unwatch = options.events ? showEvents(session, options) : showWords(session, options)
  const cancel = () => void session.cancel()
  process.once('SIGINT', cancel)
  try {
    const { outcome, stopReason, modelError } = await session.prompt(options.prompt)
    unwatch()
    options.write('\n')
    await showFiles(sandbox, options)
    if (modelError !== undefined)
      throw new VitrineError(
        'agent_failed',
        `The agent's model seems to have failed: ${modelError.text ?? 'it said nothing at all'}`,
      )
    if (outcome !== 'ok') options.write(pc.yellow(`The turn ended: ${stopReason ?? outcome}.\n`))
  } finally {
    process.off('SIGINT', cancel)
  }
}

function showEvents(session: Session, { write, width }: AskOptions): () => void {
  return session.onEvent((event) => write(`${paintEvent(event, width)}\n`))
}

/** What the agent says as it says it, and its tools by their titles. */
function showWords(session: Session, { write }: AskOptions): () => void {
  return session.onEvent((event) => write(wordsOf(event)))
}

function wordsOf({ type, data }: JournalEvent): string {
  if (type === 'permission.resolved') return pc.dim(`\n[permission: ${String(data.answer)}]\n`)
  const { message } = data as { message?: { params?: { update?: Update } } }
  const update = type === 'agent.message' ? message?.params?.update : undefined
  if (update?.sessionUpdate === 'agent_message_chunk') return update.content?.text ?? ''
  if (update?.sessionUpdate === 'agent_thought_chunk') return pc.dim(update.content?.text ?? '')
  if (update?.sessionUpdate === 'tool_call') return pc.cyan(`\n[${update.title ?? 'a tool'}]\n`)
  return ''
}

interface Update {
  readonly sessionUpdate?: string
  readonly title?: string
  readonly content?: { readonly text?: string }
}

async function showFiles(sandbox: HostSandbox, { write }: AskOptions): Promise<void> {
  const { events } = await sandbox.journal.read({ types: ['file.*'], limit: 10_000 })
  const files = listChangedFiles(rebuild(changedFilesView, events))
  if (files.length > 0) write(`\n${pc.bold('Changed files')}\n`)
  for (const { path, change } of files) write(`  ${change.padEnd(8)} ${path}\n`)
}
