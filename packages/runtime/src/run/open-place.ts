import type { Sandbox, SandboxClient, Session } from '@vitrine/protocol'
import { sessionOptions } from './agent-run.ts'
import type { OpenSandboxRunOptions } from './options.ts'

/** The sandbox and the session that a run works in. A run removes only a sandbox that it created. */
export interface RunPlace {
  readonly box: Sandbox
  readonly session: Session
  readonly ownership: 'owned' | 'borrowed'
}

/** Creates a sandbox and opens a session in it, or attaches to those of `resumeFrom`. Leaves nothing behind if it fails. */
export async function openPlace<Task>(
  client: SandboxClient,
  runId: string,
  options: OpenSandboxRunOptions<Task>,
  signal: AbortSignal,
): Promise<RunPlace> {
  const { agentRun, resumeFrom, sandbox = {}, session: given = {} } = options
  const { agent: _, ...changes } = sessionOptions(agentRun.profile, given)
  if (resumeFrom !== undefined) {
    const box = (await client.attach(resumeFrom.sandboxId, { signal })).as({ run: runId })
    const session = await box.sessions.resume(resumeFrom.sessionId, { ...changes, signal })
    return { box, session, ownership: 'borrowed' }
  }
  const box = (await client.create({ ...sandbox, signal })).as({ run: runId })
  try {
    await agentRun.prepareBox?.(box, { signal })
    signal.throwIfAborted()
    const session = await box.openSession({ ...sessionOptions(agentRun.profile, given), signal })
    return { box, session, ownership: 'owned' }
  } catch (error) {
    await client.destroy(box.id)
    throw error
  }
}
