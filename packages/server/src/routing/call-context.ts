import { type HostCallContext, isTraceparent, VitrineError } from '@vitrine/protocol'
import type { Caller } from '../guard/caller.ts'
import { omitUndefined } from './omit-undefined.ts'

type ReadHeader = (name: string) => string | undefined

/**
 * The context of a call. `caller` is the name of the token and no header changes it; `actor` is what the caller claims,
 * by default the same name.
 */
export function contextOf(header: ReadHeader, caller: Caller): HostCallContext {
  const named = (name: string) => {
    const value = header(name)
    return value === undefined || value === '' ? undefined : decoded(name, value)
  }
  const traceparent = header('traceparent') ?? ''
  return omitUndefined({
    caller: caller.name,
    actor: named('vitrine-actor') ?? caller.name,
    run: named('vitrine-run'),
    session: named('vitrine-session'),
    turn: named('vitrine-turn'),
    // W3C requires that a malformed traceparent is ignored; a proxy may have added it.
    traceparent: isTraceparent(traceparent) ? traceparent : undefined,
  })
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (error) {
    throw new VitrineError('argument_invalid', `${name}: expected UTF-8, percent-encoded.`, { cause: error })
  }
}
