import type { JournalEvent, Session } from '@vitrine/protocol'
import { expect } from 'vitest'
import type { ModelServer } from '../../packages/agents/test/model/server.ts'
import type { ExpectedBehaviour } from './expected.ts'
import { type AgentFixture, allEvents } from './fixture.ts'

interface RestoreFacts {
  readonly session: Session
  readonly model: ModelServer
  /** When it was asked to come back. */
  readonly before: number
  /** When the agent began what it has to remember; default when the session was opened. */
  readonly since?: number
  /** The first prompt since. */
  readonly prompt: string
  /** A word from before. */
  readonly remembers: string
}

/** How it came back, and that its model is told what was said before: by the agent itself, or in our words. */
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

/** What is about to be old enough may be so by the time that it is asked. */
function expectedMethods(
  { restored, loadsAfterMs = 0 }: ExpectedBehaviour,
  since: number,
  before: number,
): string[] {
  if (loadsAfterMs === 0 || before - since > loadsAfterMs) return [restored]
  return Date.now() - since < loadsAfterMs ? ['transcript'] : ['transcript', restored]
}
