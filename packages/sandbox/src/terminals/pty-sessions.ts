import { randomInt } from 'node:crypto'
import { VitrineError } from '@vitrine/protocol'
import { chooseToEnd } from './choose-to-end.ts'
import type { PtySession } from './pty-session.ts'

const firstId = 1_000
const endOfIds = 100_000

/** The terminal sessions of one sandbox by number. All handles to the sandbox share them. */
export class PtySessions {
  readonly #sessions = new Map<number, { readonly session: PtySession; lastUsed: number }>()
  #uses = 0

  /** A number that is not in use. */
  newId(): number {
    for (;;) {
      const id = randomInt(firstId, endOfIds)
      if (!this.#sessions.has(id)) return id
    }
  }

  /** Adds a session. Returns the session that was removed to make room. */
  add(session: PtySession): PtySession | undefined {
    const uses = [...this.#sessions.values()].map(({ session: { id, exited }, lastUsed }) => ({
      id,
      exited,
      lastUsed,
    }))
    const last = chooseToEnd(uses)
    const removed = last === undefined ? undefined : this.forget(last)
    this.#uses += 1
    this.#sessions.set(session.id, { session, lastUsed: this.#uses })
    return removed
  }

  use(id: number): PtySession {
    const found = this.#sessions.get(id)
    if (found === undefined)
      throw new VitrineError(
        'not_found',
        `There is no terminal session ${id}: it has ended or never existed.`,
      )
    this.#uses += 1
    found.lastUsed = this.#uses
    return found.session
  }

  forget(id: number): PtySession | undefined {
    const found = this.#sessions.get(id)
    this.#sessions.delete(id)
    return found?.session
  }

  forgetAll(): PtySession[] {
    const all = [...this.#sessions.values()].map(({ session }) => session)
    this.#sessions.clear()
    return all
  }
}
