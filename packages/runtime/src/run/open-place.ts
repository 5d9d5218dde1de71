import type { Sandbox, SandboxClient, Session } from '@vitrine/protocol'
import { sessionOptions } from './agent-run.ts'
import type { OpenSandboxRunOptions } from './options.ts'

/** The sandbox and the session that a run works in. A run removes only a sandbox that it created. */
export interface RunPlace {
  readonly box: Sandbox
  readonly session: Session
  readonly ownership: 'owned' | 'borrowed'
}

/**
 * Creates a sandbox and opens a session in it, or attaches to those of `resumeFrom`. A sandbox that
 * cannot be destroyed after a failure is reported with `onCleanupError`.
 */
export async function openPlace<Task>(
  client: SandboxClient,
  runId: string,
  options: OpenSandboxRunOptions<Task>,
  { signal, onCleanupError }: { readonly signal: AbortSignal; onCleanupError(error: unknown): void },
): Promise<RunPlace> {
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
    await client.destroy(box.id).catch(onCleanupError)
    throw error
  }
}

/** A session that may have been closed; an open one stays as it is. */
export function resumedSession<Task>(
  box: Sandbox,
  id: string,
  { agentRun, session: given = {} }: Pick<OpenSandboxRunOptions<Task>, 'agentRun' | 'session'>,
  signal: AbortSignal,
): Promise<Session> {
  const { agent: _, ...changes } = sessionOptions(agentRun.profile, given)
  return box.sessions.resume(id, { ...changes, signal })
}

/** Runs a function of the caller. It may ignore the signal, which then ends the wait. */
export async function orAborted(signal: AbortSignal, run: () => Promise<unknown>): Promise<void> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([run(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
