import type { Journal } from '@vitrine/journal'
import type { TurnLimits } from '@vitrine/protocol'
import type { ActiveTurn } from './active-turn.ts'

/** Stops a turn at its total or idle time limit and records the limit. Returns a function that stops the timers. */
export function watchLimits(
  turn: ActiveTurn,
  { limits, answers }: { readonly limits: TurnLimits; readonly answers: { readonly size: number } },
  journal: Journal,
  stop: () => void,
): () => void {
  const { idleMs, totalMs } = limits
  let idle: NodeJS.Timeout | undefined
  const reached = (limit: string, max: number) => {
    journal.append([{ type: 'limit.reached', data: { limit, max } }]).catch(() => undefined)
    stop()
  }
  const total =
    totalMs === undefined ? undefined : setTimeout(() => reached('turn.totalMs', totalMs), totalMs)
  const watchIdle = (max: number, wait: number) => {
    idle = setTimeout(() => {
      // The idle timer is paused while a permission or question is pending.
      if (answers.size > 0) turn.lastMessageAt = performance.now()
      const left = max - (performance.now() - turn.lastMessageAt)
      if (left <= 0) reached('turn.idleMs', max)
      else watchIdle(max, left)
    }, wait)
  }
  if (idleMs !== undefined) watchIdle(idleMs, idleMs)
  return () => {
    clearTimeout(total)
    clearTimeout(idle)
  }
}
