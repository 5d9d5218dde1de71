import * as z from 'zod/mini'
import { component } from '../component.ts'
import { problem } from './problem.ts'

/** The cursor is there in streams of a journal: everything up to it was scanned, whether it matched or not. */
const place = { cursor: z.exactOptional(z.nullable(z.string())) }

const heartbeat = component('StreamHeartbeat', () => z.object(place))

/** `closing`: the daemon goes down. `over`: nothing more will come. */
const end = component('StreamEnd', () => z.object({ ...place, reason: z.enum(['closing', 'over']) }))

/** The frames of a stream by the name of their event, those that every stream has included. */
export function frames<Named extends Readonly<Record<string, z.ZodMiniType>>>(
  named: Named,
): Readonly<Record<string, z.ZodMiniType>> {
  return { ...named, heartbeat: heartbeat(), end: end(), error: problem() }
}
