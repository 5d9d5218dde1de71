import { type AgentConfig, SandboxSessions } from '@vitrine/agents'
import type { Journal, Store } from '@vitrine/journal'
import type { SandboxEnd, SandboxEngine } from '@vitrine/sandbox'
import { EngineSandbox } from './engine-sandbox.ts'
import type { LastingSettings } from './lasting-settings.ts'
import type { LifeFollower } from './life-times/sandbox-life.ts'
import { SandboxShutdown } from './sandbox-shutdown.ts'

interface SessionParts {
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentConfig
  readonly life: LifeFollower | undefined
  readonly lasting: LastingSettings
  /** Called after the sandbox was closed or destroyed. */
  onEnded(end: SandboxEnd): void
}

/** Puts an engine that was started and the sessions of its agents together. */
export async function withSessions(
  engine: SandboxEngine,
  { journal, store, agents, life, lasting, onEnded }: SessionParts,
): Promise<EngineSandbox> {
  const sessions = new SandboxSessions({ sandbox: engine, journal, store, agents })
  await sessions.closeInterrupted()
  const shutdown = new SandboxShutdown(engine, sessions, (end) => {
    life?.end()
    if (end === 'destroyed')
      // The last events of its sessions may still contain its secrets.
      void sessions
        .endAll('the sandbox was destroyed')
        .catch(() => undefined)
        .then(() => store.forgetSecretsOf(engine.id))
    onEnded(end)
  })
  const sandbox = new EngineSandbox({ engine, sessions, shutdown, lasting, uses: life?.uses })
  life?.use(sandbox)
  return sandbox
}
