import type { JournalEvent, Session } from '@vitrine/protocol'
import { expect } from 'vitest'
import type { ModelServer } from '../../packages/agents/test/model/server.ts'
import type { ExpectedBehaviour } from './expected.ts'
import { type AgentFixture, allEvents } from './fixture.ts'

interface RestoreFacts {
  readonly session: Session
  readonly model: ModelServer
  /** When the session was resumed, in milliseconds. */
  readonly before: number
  /** When the agent's conversation started; default: when the session was created. */
  readonly since?: number
  /** The first prompt after the restore. */
  readonly prompt: string
  /** A word from before the restore that the model must receive again. */
  readonly remembers: string
}

/** Checks how the session was restored, and that the model gets the earlier conversation from the agent or as a transcript. */
export async function expectRestored(
  { sandbox, expected }: Pick<AgentFixture, 'sandbox' | 'expected'>,
  {
    session,
    model,
    before,
    since = Date.parse(session.info.createdAt),
    prompt,
    remembers: knows,
  }: RestoreFacts,
): Promise<void> {
  const method = await restoreMethodOf(sandbox, session.id)
  expect(expectedMethods(expected, since, before)).toContain(method)
  const request = model.requests.findLast(
    (request) => request.tools.length > 0 && request.prompt.includes(prompt),
  )
  expect(request).toBeDefined()
  expect(method === 'transcript' ? request?.prompt : request?.earlier).toContain(knows)
}

async function restoreMethodOf(sandbox: AgentFixture['sandbox'], session: string): Promise<unknown> {
  const restored = (await allEvents(sandbox)).filter(
    (event: JournalEvent) =>
      event.type === 'session.updated' && event.session === session && 'restored' in event.data,
  )
  return restored.at(-1)?.data.restored
}

/** A session that is close to the age limit may have passed it when the agent loads it, so both methods are allowed. */
function expectedMethods(
  { restored, loadsAfterMs = 0 }: ExpectedBehaviour,
  since: number,
  before: number,
): string[] {
  if (loadsAfterMs === 0 || before - since > loadsAfterMs) return [restored]
  return Date.now() - since < loadsAfterMs ? ['transcript'] : ['transcript', restored]
}
