import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { problem } from './problem.ts'

/** Streams of a journal have a cursor: everything up to it was scanned, whether it matched or not. */
const position = { cursor: z.exactOptional(z.nullable(z.string())) }

const heartbeat = component('StreamHeartbeat', () => z.object(position))

/** `closing`: the daemon is shutting down. `complete`: every frame was sent. */
const end = component('StreamEnd', () => z.object({ ...position, reason: z.enum(['closing', 'complete']) }))

/** Schemas of a stream's frames by event name, including the frames that every stream has. */
export function frames<Named extends Readonly<Record<string, z.ZodMiniType>>>(
  named: Named,
): Readonly<Record<string, z.ZodMiniType>> {
  return { ...named, heartbeat: heartbeat(), end: end(), error: problem() }
}
