import { homedir } from 'node:os'
import type { AgentConfig, FunctionAgent } from '@vitrine/agents'
import { memoryStore, openStore, type Store } from '@vitrine/journal'
import { type OnObserverError, VitrineError } from '@vitrine/protocol'
import { cancelled, checkSandboxId } from '@vitrine/protocol/primitives'
import { createEventOnlySandbox, type SandboxEnd } from '@vitrine/sandbox'
import { withSessions } from './engine-with-sessions.ts'
import type { HostCreateOptions } from './host-parts.ts'
import type { HostSandbox } from './host-sandbox.ts'
import { LastingSettings } from './lasting-settings.ts'
import { lifeTimesOf } from './life-times/life-times-of.ts'
import { SandboxLives } from './life-times/sandbox-lives.ts'
import { sharedCache } from './settings.ts'

interface EventOnlyParts {
  readonly provider: string
  readonly agent: FunctionAgent
  readonly onObserverError?: OnObserverError
}

/**
 * Creates a sandbox whose agent is a function and that has a journal and nothing else: no directory, no watcher and no
 * process. Its journal is in memory.
 */
export async function createEventOnly(
  options: HostCreateOptions & { readonly id: string },
  { provider, agent, onObserverError }: EventOnlyParts,
): Promise<HostSandbox> {
  const { id, secrets, signal } = options
  refuseWithoutWorkdir(options)
  checkSandboxId(id)
  if (signal?.aborted) throw cancelled(signal)
  const store = await openStore(memoryStore(), { ...(onObserverError && { onObserverError }) })
  try {
    const journal = await store.journal(id, { source: 'host', sandbox: id })
    const record = { id, createdAt: new Date().toISOString(), ...lifeTimesOf(options) }
    const lives = new SandboxLives({ store, journal })
    const life = lives.follow(record, journal)
    const engine = await createEventOnlySandbox({ id, provider, store, ...(secrets && { secrets }) })
    const sandbox = await withSessions(engine, {
      ...{ journal, store, life },
      agents: agentsOf(agent),
      // No later host opens it.
      lasting: new LastingSettings(id, { update: () => undefined }),
      onEnded: () => lives.close(),
    })
    sandbox.afterEnd((end) => release(store, id, end))
    lives.open([{ ...record, state: 'stopped' }], () => sandbox.lifecycle.destroy('ttl'))
    return sandbox
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Throws for an option that only files or commands use: it would be ignored silently. */
function refuseWithoutWorkdir(options: HostCreateOptions): void {
  const { workspace, env, policy, onAsk, egress, limits } = options
  const given = Object.entries({ workspace, env, policy, onAsk, egress, limits })
  const option = given.find(([, value]) => value !== undefined)?.[0]
  if (option === undefined) return
  throw new VitrineError(
    'unsupported',
    `${option}: an event-only sandbox does not take this option. Give its client a \`workdir\`, which turns on files and commands.`,
    { details: { path: option } },
  )
}

function agentsOf(agent: FunctionAgent): AgentConfig {
  return {
    custom: [agent],
    install: 'never',
    cache: sharedCache(),
    env: process.env,
    home: homedir(),
    node: process.execPath,
  }
}

/** The journal of a destroyed sandbox stays readable for as long as its handle is in use. */
function release(store: Store, id: string, end: SandboxEnd): Promise<void> {
  return end === 'destroyed'
    ? store.seal(new VitrineError('sandbox_destroyed', `The sandbox ${id} was destroyed.`))
    : store.close()
}
