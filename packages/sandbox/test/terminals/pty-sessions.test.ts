import { describe, expect, it } from 'vitest'
import { PtySession } from '../../src/terminals/pty-session.ts'
import { PtySessions } from '../../src/terminals/pty-sessions.ts'
import { UnreadOutput } from '../../src/terminals/unread-output.ts'

const never = () => new Promise<never>(() => undefined)

function add(sessions: PtySessions, exit = never()) {
  const process = { id: 'prc', exit, input: never, end: never, kill: never }
  const session = new PtySession(sessions.newId(), process, { tty: true, unread: new UnreadOutput() })
  return { session, removed: sessions.add(session) }
}

describe('the sessions of a sandbox', () => {
  it('gives each session its own number from 1000 to 99999', () => {
    const sessions = new PtySessions()
    const ids = Array.from({ length: 64 }, () => add(sessions).session.id)
    expect(new Set(ids).size).toBe(64)
    for (const id of ids) expect(id >= 1_000 && id < 100_000).toBe(true)
  })

  it('keeps at most 64 sessions, and those used recently', () => {
    const sessions = new PtySessions()
    const [first, second] = Array.from({ length: 64 }, () => add(sessions).session)
    sessions.use(first?.id ?? 0)
    expect(add(sessions).removed).toBe(second)
    expect(sessions.use(first?.id ?? 0)).toBe(first)
    expect(() => sessions.use(second?.id ?? 0)).toThrow(expect.objectContaining({ code: 'not_found' }))
  })

  it('forgetAll returns all sessions', () => {
    const sessions = new PtySessions()
    const { session } = add(sessions)
    expect(sessions.forgetAll()).toEqual([session])
    expect(sessions.forgetAll()).toEqual([])
  })
})
