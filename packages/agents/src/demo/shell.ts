import { type CommandExit, runChild } from './child-process.ts'
import { type AttemptOutcome, messageOf } from './files.ts'
import { unlessAborted } from './pause.ts'
import { permit } from './permission.ts'
import { type OpenTool, openTool, textContent } from './tool-call.ts'
import type { Turn } from './turn.ts'

/** A shell command, and whether it needs permission. */
export interface ShellCommand {
  readonly line: string
  /** A command that only reads needs no permission and runs in every mode. */
  readonly effect: 'reads' | 'changes'
}

export interface CommandResult {
  readonly attempt: AttemptOutcome
  readonly ended?: CommandExit
}

/** Runs a command as a tool call: in a terminal of the client if it offers terminals, else as a child process. */
export async function runCommand(turn: Turn, { line, effect }: ShellCommand): Promise<CommandResult> {
  const tool = await openTool(turn, {
    title: `\`${line}\``,
    kind: 'execute',
    rawInput: { command: line, cwd: turn.session.cwd },
  })
  if (effect === 'changes') {
    if (turn.session.mode === 'plan') {
      await tool.fail('Mode plan: nothing is run.')
      return { attempt: 'refused' }
    }
    if ((await permit(turn, tool.call, 'execute')) === 'reject') {
      await tool.fail('The user rejected it.')
      return { attempt: 'refused' }
    }
  }
  try {
    const run = turn.clientCapabilities.terminal ? runInTerminal : runAsChild
    const ended = await run(turn, tool, line)
    return { attempt: ended.exitCode === 0 ? 'done' : 'failed', ended }
  } catch (error) {
    turn.signal.throwIfAborted()
    await tool.fail(messageOf(error))
    return { attempt: 'failed' }
  }
}

async function runInTerminal(turn: Turn, tool: OpenTool, line: string): Promise<CommandExit> {
  const sessionId = turn.session.id
  const creating = turn.client.request('terminal/create', {
    sessionId,
    command: '/bin/sh',
    args: ['-c', line],
    cwd: turn.session.cwd,
    outputByteLimit: 256 * 1024,
  })
  // Release the terminal even if it is created after the turn was cancelled; the release kills its command.
  const release = () =>
    creating.then(({ terminalId }) => turn.client.request('terminal/release', { sessionId, terminalId }))
  try {
    const { terminalId } = await unlessAborted(creating, turn.signal)
    await tool.update({ status: 'in_progress', content: [{ type: 'terminal', terminalId }] })
    const exit = await turn.request('terminal/wait_for_exit', { sessionId, terminalId })
    const { output } = await turn.request('terminal/output', { sessionId, terminalId })
    const ended: CommandExit = { exitCode: exit.exitCode ?? null, signal: exit.signal ?? null, output }
    await tool.close({ status: statusOf(ended), rawOutput: ended })
    return ended
  } finally {
    void release().catch(() => {})
  }
}

async function runAsChild(turn: Turn, tool: OpenTool, line: string): Promise<CommandExit> {
  await tool.update({ status: 'in_progress' })
  let shown = Date.now()
  let showing = Promise.resolve()
  const ended = await runChild(line, turn.session.cwd, turn.signal, (soFar) => {
    if (Date.now() - shown < 100) return
    shown = Date.now()
    showing = tool.update({ content: [textContent(soFar)] }).catch(() => {})
  })
  await showing
  await tool.close({ status: statusOf(ended), content: [textContent(ended.output)], rawOutput: ended })
  return ended
}

function statusOf(ended: CommandExit): 'completed' | 'failed' {
  return ended.exitCode === 0 ? 'completed' : 'failed'
}
