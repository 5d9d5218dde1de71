import type { EventContext, HostCallContext } from '@vitrine/protocol'

/** The person or program that asked for a turn, and what for. */
export type TurnCaller = Omit<HostCallContext, 'session' | 'turn'>

/** The context of a turn's events: those of the caller, with the caller's span as `trace`. */
export function turnContext(
  { traceparent, ...caller }: TurnCaller,
  ids: { readonly session: string; readonly turn: string },
): EventContext {
  return { ...caller, ...ids, ...(traceparent !== undefined && { trace: traceOf(traceparent) }) }
}

/** The span of a W3C traceparent that was checked: `00-<trace id>-<span id>-<flags>`. */
function traceOf(traceparent: string): NonNullable<EventContext['trace']> {
  const [, traceId = '', spanId = ''] = traceparent.split('-')
  return { traceId, spanId }
}
