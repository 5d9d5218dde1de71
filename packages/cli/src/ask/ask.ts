import { createSandbox, type HostSandbox, local, parseAgent, type ScriptSandboxOptions } from '@vitrine/host'
import {
  type AgentMessage,
  type JournalEvent,
  readPages,
  type Session,
  VitrineError,
} from '@vitrine/protocol'
import { changedFilesView, escapeForTerminal, failedConnectionText, listChangedFiles } from '@vitrine/views'
import pc from 'picocolors'
import { escapeLinesForTerminal } from '../escape-lines.ts'
import { paintEvent } from '../paint.ts'
import { type EndSignal, signalCodes, takeSignals } from '../signals.ts'

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
  /** Print every event instead of the agent's messages. */
  readonly events: boolean
  readonly width: number
  readonly write: (text: string) => void
}

/** Sends one prompt to one agent in a new sandbox, prints the turn, then the changed files. */
export async function ask(options: AskOptions): Promise<void> {
  const { agent, root, isolation } = options
  const ownAgent = agent.includes('=') ? parseAgent(agent) : undefined
  const script: ScriptSandboxOptions = {
    provider: local({ isolation, ...(root !== undefined && { root }) }),
    ...(ownAgent && { agents: [ownAgent] }),
    onInstall: ({ message }) => options.write(pc.dim(`${message}\n`)),
  }
  await using sandbox = await createSandbox(script)
  const session = await sandbox.openSession({
    agent: ownAgent?.name ?? agent,
    permissions: options.permissions,
    ...(options.credentials && { credentials: options.credentials }),
    ...(options.model && { model: options.model }),
    ...(options.mode && { mode: options.mode }),
  })
  const ended = new AbortController()
  const showing = show(session, options, ended.signal)
  const stopListening = session.onEvent(({ type, data }) => {
    if (type === 'question.requested')
      void session.respondQuestion(data.question, { action: 'cancel' }).catch(() => undefined)
  })
  takeSignals(['SIGINT'], cancelOrExit(session))
  try {
    const { outcome, stopReason, modelError } = await session.prompt(options.prompt)
    await showing
    options.write('\n')
    await showFiles(sandbox, options)
    if (modelError !== undefined)
      throw new VitrineError(
        'agent_failed',
        [
          `The agent's model seems to have failed: ${modelError.text ?? 'the turn has no output'}`,
          ...(modelError.connections ?? []).map(failedConnectionText),
        ].join('\n'),
      )
    if (outcome !== 'ok') options.write(pc.yellow(`The turn ended with: ${stopReason ?? outcome}.\n`))
  } finally {
    ended.abort()
    await showing
    stopListening()
  }
}

/** The first Ctrl-C cancels the turn; the second exits at once. */
function cancelOrExit(session: Session): (signal: EndSignal) => void {
  let cancelling = false
  return (signal) => {
    if (cancelling) process.exit(signalCodes[signal])
    cancelling = true
    void session.cancel().catch(() => undefined)
  }
}

/** Prints the agent's messages, or every event, until the turn has finished. */
async function show(session: Session, options: AskOptions, signal: AbortSignal): Promise<void> {
  const { write, width, events } = options
  for await (const event of session.events({ signal })) {
    if (!('seq' in event)) continue
    write(events ? `${paintEvent(event, width)}\n` : textOf(event))
    if (event.type === 'turn.finished') return
  }
}

function textOf({ type, data }: JournalEvent): string {
  switch (type) {
    case 'permission.resolved':
      return pc.dim(`\n[permission: ${data.answer}]\n`)
    case 'question.requested':
      return pc.yellow(
        `\n[question cancelled, this command cannot answer it: ${escapeForTerminal(data.message ?? '')}]\n`,
      )
    case 'agent.message':
      return messageText(data.message)
    default:
      return ''
  }
}

/** An agent may send anything under these names, so every field is checked. */
function messageText(message: AgentMessage): string {
  const update = message.method === 'session/update' ? message.params?.update : undefined
  switch (update?.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk': {
      const { content, sessionUpdate } = update
      // A text over 64 KiB is a reference to a blob.
      if (content?.type !== 'text' || typeof content.text !== 'string') return ''
      const text = escapeLinesForTerminal(content.text)
      return sessionUpdate === 'agent_message_chunk' ? text : pc.dim(text)
    }
    case 'tool_call':
      return pc.cyan(`\n[${escapeForTerminal(update.title ?? 'a tool')}]\n`)
    default:
      return ''
  }
}

async function showFiles(sandbox: HostSandbox, { write }: AskOptions): Promise<void> {
  let state = changedFilesView.empty
  for await (const { events } of readPages(sandbox.journal, { types: ['file.*'] }))
    state = changedFilesView.add(state, events)
  const files = listChangedFiles(state)
  if (files.length > 0) write(`\n${pc.bold('Changed files')}\n`)
  for (const { path, change } of files) write(`  ${change.padEnd(8)} ${escapeForTerminal(path)}\n`)
}
