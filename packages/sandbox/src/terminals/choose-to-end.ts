export interface SessionUse {
  readonly id: number
  readonly exited: boolean
  /** A counter that grows with each use. */
  readonly lastUsed: number
}

const maxSessions = 64
const protectedSessions = 8

/** Chooses the session to remove when the table is full: of those not used recently, an ended one or the oldest. */
export function chooseToEnd(sessions: readonly SessionUse[]): number | undefined {
  if (sessions.length < maxSessions) return undefined
  const oldestFirst = sessions.toSorted((a, b) => a.lastUsed - b.lastUsed)
  const candidates = oldestFirst.slice(0, -protectedSessions)
  return (candidates.find(({ exited }) => exited) ?? candidates[0])?.id
}
