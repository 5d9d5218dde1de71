export interface SessionUse {
  readonly id: number
  readonly exited: boolean
  /** Grows with each use. */
  readonly lastUsed: number
}

const maxSessions = 64
const protectedSessions = 8

/** Which session makes room for another: of those not used lately one that has ended, or else the least used. */
export function chooseToEnd(sessions: readonly SessionUse[]): number | undefined {
  if (sessions.length < maxSessions) return undefined
  const oldestFirst = sessions.toSorted((a, b) => a.lastUsed - b.lastUsed)
  const candidates = oldestFirst.slice(0, -protectedSessions)
  return (candidates.find(({ exited }) => exited) ?? candidates[0])?.id
}
