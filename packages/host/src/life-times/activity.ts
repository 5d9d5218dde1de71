import type { MatchedEvent } from '@vitrine/protocol'

/** The events that change whether a sandbox runs and whether something is active in it. */
export const activityTypes = [
  'sandbox.ready',
  'sandbox.paused',
  'sandbox.resumed',
  'sandbox.stopped',
  'sandbox.failed',
  'sandbox.destroyed',
  'operation.started',
  'operation.finished',
  'process.started',
  'process.exited',
  'agent.started',
  'prompt.queued',
  'prompt.dropped',
  'turn.started',
  'turn.finished',
] as const

type ActivityEvent = MatchedEvent<(typeof activityTypes)[number]>

/** The work in a sandbox, as its journal shows it. */
export interface Activity {
  /** Undefined while it does not run. */
  readonly startedAt: number | undefined
  /** A caller froze it on purpose, so it is not idle. */
  readonly isPaused: boolean
  /** The operations, processes and turns that have not ended; a queued prompt is a turn. */
  readonly open: ReadonlySet<string>
  /** When work began or ended last. */
  readonly changedAt: number
}

export const noActivity: Activity = {
  startedAt: undefined,
  isPaused: false,
  open: new Set(),
  changedAt: Number.NEGATIVE_INFINITY,
}

/** Since when nothing is active; undefined while something is, or while the sandbox does not run. */
export function idleSince({ startedAt, isPaused, open, changedAt }: Activity): number | undefined {
  return startedAt === undefined || isPaused || open.size > 0 ? undefined : Math.max(startedAt, changedAt)
}

export function nextActivity(activity: Activity, event: ActivityEvent, now: number): Activity {
  switch (event.type) {
    case 'sandbox.ready':
      return { ...activity, startedAt: now, isPaused: false }
    case 'sandbox.paused':
      return { ...activity, isPaused: true }
    case 'sandbox.resumed':
      return { ...activity, isPaused: false, changedAt: now }
    case 'sandbox.stopped':
    case 'sandbox.failed':
    case 'sandbox.destroyed':
      return { ...activity, startedAt: undefined, isPaused: false }
    case 'operation.started':
      // A question about the state is a look.
      return event.data.op === 'running' ? activity : opened(activity, `operation ${event.operation}`, now)
    case 'operation.finished':
      return ended(activity, `operation ${event.operation}`, now)
    case 'process.started':
      return opened(activity, `process ${event.data.process}`, now)
    case 'process.exited':
      return ended(activity, `process ${event.data.process}`, now)
    case 'agent.started':
      // An agent that waits for a prompt does nothing: its turns are the activity.
      return ended(activity, `process ${event.data.process}`, now)
    case 'prompt.queued':
    case 'turn.started':
      return opened(activity, `turn ${event.turn}`, now)
    case 'prompt.dropped':
    case 'turn.finished':
      return ended(activity, `turn ${event.turn}`, now)
    default:
      return activity
  }
}

function opened(activity: Activity, work: string, now: number): Activity {
  return { ...activity, open: new Set([...activity.open, work]), changedAt: now }
}

/** The end of work whose begin was not counted changes nothing. */
function ended(activity: Activity, work: string, now: number): Activity {
  if (!activity.open.has(work)) return activity
  return { ...activity, open: new Set([...activity.open].filter((one) => one !== work)), changedAt: now }
}
