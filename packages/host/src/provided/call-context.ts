import type { CallContext, HostCallContext } from '@vitrine/protocol'

/** The context for a sandbox that may be a daemon of its own: only that daemon sets the caller, so ours is the actor. */
export function callContextOf({ caller, ...context }: HostCallContext): CallContext {
  const actor = context.actor ?? caller
  return { ...context, ...(actor !== undefined && { actor }) }
}
