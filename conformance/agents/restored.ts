import type { JournalEvent, Session } from '@vitrine/protocol'
import { expect } from 'vitest'
import type { ModelServer } from '../../packages/agents/test/model/server.ts'
import type { Expected } from './expected.ts'
import { allEvents, type Scene } from './scene.ts'

interface Restoring {
  readonly session: Session
  readonly model: ModelServer
  /** When it was asked to come back. */
  readonly before: number
  /** When the agent began what it has to remember; default when the session was opened. */
  readonly since?: number
  /** The first prompt since. */
  readonly prompt: string
  /** A word from before. */
  readonly knows: string
}

/** How it came back, and that its model is told what was said before: by the agent itself, or in our words. */
export async function expectRestored(
  { sandbox, expected }: Pick<Scene, 'sandbox' | 'expected'>,
  { session, model, before, since = Date.parse(session.info.createdAt), prompt, knows }: Restoring,
): Promise<void> {
  const way = await wayOf(sandbox, session.id)
  expect(waysFor(expected, since, before)).toContain(way)
  const asked = model.requests.findLast(
    (request) => request.tools.length > 0 && request.prompt.includes(prompt),
  )
  expect(asked).toBeDefined()
  expect(way === 'transcript' ? asked?.prompt : asked?.earlier).toContain(knows)
}

async function wayOf(sandbox: Scene['sandbox'], session: string): Promise<unknown> {
  const restored = (await allEvents(sandbox)).filter(
    (event: JournalEvent) =>
      event.type === 'session.updated' && event.session === session && 'restored' in event.data,
  )
  return restored.at(-1)?.data.restored
}

/** What is about to be old enough may be so by the time that it is asked. */
function waysFor({ restored, loadsAfterMs = 0 }: Expected, since: number, before: number): string[] {
  if (loadsAfterMs === 0 || before - since > loadsAfterMs) return [restored]
  return Date.now() - since < loadsAfterMs ? ['transcript'] : ['transcript', restored]
}
