import {
  isVitrineError,
  type Sandbox,
  type SandboxClient,
  type Session,
  VitrineError,
} from '@vitrine/protocol'
import { sessionOptions } from './agent-run.ts'
import { orAborted } from './bounded-waits.ts'
import type { OpenSandboxRunOptions } from './options.ts'

/** The sandbox and the session that a run works in. A run removes only a sandbox that it created. */
export interface OpenedRun {
  readonly box: Sandbox
  readonly session: Session
  readonly ownership: 'owned' | 'borrowed'
}

interface OpenRunContext {
  readonly runId: string
  readonly signal: AbortSignal
  /** Called with the new sandbox before it is removed, because it could not be prepared. */
  onFailed(box: Sandbox): Promise<void>
  onCleanupError(error: unknown): void
}

/** Creates a sandbox and opens a session in it, or attaches to those of `resumeFrom`. */
export async function openRun<Task>(
  client: SandboxClient,
  options: OpenSandboxRunOptions<Task>,
  { runId, signal, onFailed, onCleanupError }: OpenRunContext,
): Promise<OpenedRun> {
  const { agentRun, resumeFrom, sandbox = {}, session: given = {} } = options
  if (resumeFrom !== undefined) {
    const box = (await client.attach(resumeFrom.sandboxId, { signal })).as({ run: runId })
    const session = await resumedSession(box, resumeFrom.sessionId, options, signal)
    return { box, session, ownership: 'borrowed' }
  }
  const box = (await client.create({ ...sandbox, signal })).as({ run: runId })
  try {
    await orAborted(signal, async () => agentRun.prepareBox?.(box, { signal }))
    const session = await box.openSession({ ...sessionOptions(agentRun.profile, given), signal })
    return { box, session, ownership: 'owned' }
  } catch (error) {
    await onFailed(box)
    await removeBox(box).catch(onCleanupError)
    throw error
  }
}

/** A session that may have been closed; an open one stays as it is. */
export async function resumedSession<Task>(
  box: Sandbox,
  id: string,
  { agentRun, session: given = {} }: Pick<OpenSandboxRunOptions<Task>, 'agentRun' | 'session'>,
  signal: AbortSignal,
): Promise<Session> {
  const { agent, ...changes } = sessionOptions(agentRun.profile, given)
  const session = await box.sessions.resume(id, { ...changes, signal })
  if (session.agent === agent) return session
  throw new VitrineError(
    'argument_invalid',
    `agentRun.profile.agent: expected ${session.agent}, the agent of the session ${id}, got ${agent}.`,
  )
}

/** Destroys a sandbox by its handle: another one may have its id by now. */
export async function removeBox(box: Sandbox): Promise<void> {
  try {
    await box.lifecycle.destroy()
  } catch (error) {
    if (!isVitrineError(error) || !goneCodes.has(error.code)) throw error
  }
}

const goneCodes: ReadonlySet<string> = new Set(['sandbox_destroyed', 'store_closed'])
