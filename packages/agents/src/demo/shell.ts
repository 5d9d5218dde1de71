import { type Attempt, messageOf } from './files.ts'
import { unlessAborted } from './pause.ts'
import { permit } from './permission.ts'
import { type Ended, runChild } from './spawned.ts'
import { type OpenTool, openTool, textContent } from './tool-call.ts'
import type { Turn } from './turn.ts'

/** A command, and how careful the agent is with it. */
export interface Command {
  readonly line: string
  /** One that only looks is not asked for and runs in every mode. */
  readonly effect: 'looks' | 'changes'
}

export interface CommandResult {
  readonly attempt: Attempt
  readonly ended?: Ended
}

/** Runs a command as a tool call: in a terminal of the client when it offers one, else as our own child. */
export async function runCommand(turn: Turn, { line, effect }: Command): Promise<CommandResult> {
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
      await tool.fail('The user said no.')
      return { attempt: 'refused' }
    }
  }
  try {
    const run = turn.offered.terminal ? runInTerminal : runAsChild
    const ended = await run(turn, tool, line)
    return { attempt: ended.exitCode === 0 ? 'done' : 'failed', ended }
  } catch (error) {
    turn.signal.throwIfAborted()
    await tool.fail(messageOf(error))
    return { attempt: 'failed' }
  }
}

async function runInTerminal(turn: Turn, tool: OpenTool, line: string): Promise<Ended> {
  const sessionId = turn.session.id
  const creating = turn.client.request('terminal/create', {
    sessionId,
    command: '/bin/sh',
    args: ['-c', line],
    cwd: turn.session.cwd,
    outputByteLimit: 256 * 1024,
  })
  // Released whenever it comes into being, also when the turn was cancelled meanwhile; that kills its command.
  const release = () =>
    creating.then(({ terminalId }) => turn.client.request('terminal/release', { sessionId, terminalId }))
  try {
    const { terminalId } = await unlessAborted(creating, turn.signal)
    await tool.update({ status: 'in_progress', content: [{ type: 'terminal', terminalId }] })
    const exit = await turn.request('terminal/wait_for_exit', { sessionId, terminalId })
    const { output } = await turn.request('terminal/output', { sessionId, terminalId })
    const ended: Ended = { exitCode: exit.exitCode ?? null, signal: exit.signal ?? null, output }
    await tool.close({ status: statusOf(ended), rawOutput: ended })
    return ended
  } finally {
    void release().catch(() => {})
  }
}

async function runAsChild(turn: Turn, tool: OpenTool, line: string): Promise<Ended> {
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

function statusOf(ended: Ended): 'completed' | 'failed' {
  return ended.exitCode === 0 ? 'completed' : 'failed'
}
