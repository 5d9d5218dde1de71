import type { EventContext, HostCallContext } from '@vitrine/protocol'

/** The caller, actor and run of a call on a session. Its own session and turn are not the call's to name. */
export function attributionOf({ caller, actor, run }: HostCallContext): EventContext {
  return {
    ...(caller !== undefined && { caller }),
    ...(actor !== undefined && { actor }),
    ...(run !== undefined && { run }),
  }
}
