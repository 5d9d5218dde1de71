import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, encoding, errorFields, exitFields, longText, milliseconds, outcome } from './shared.ts'

const agent = z.string().check(z.minLength(1))
/** One start of an agent's program; the same agent may run several times. */
const instance = z.string().check(z.minLength(1))

/** The first 20 and the last 50 lines of what it said on the side. */
export const stderr = z.looseObject({ head: longText, tail: z.optional(longText), lines: count })

export const agentData = lazily({
  'agent.installed': () => z.looseObject({ agent, version: z.optional(z.string()) }),
  /** `credentials` names what was passed, never its value. */
  'agent.started': () =>
    z.looseObject({
      agent,
      instance,
      process: z.optional(z.string()),
      credentials: z.optional(z.array(z.string())),
    }),
  /** A JSON-RPC envelope as it crossed the wire; `in` is towards the agent. */
  'agent.message': () =>
    z.looseObject({
      instance: z.optional(z.string()),
      direction: z.enum(['in', 'out']),
      message: z.unknown(),
      /** The agent tells again what the journal has already. */
      replay: z.optional(z.literal(true)),
    }),
  /** Bytes where an envelope was due. */
  'agent.unparsed': () => z.looseObject({ instance: z.optional(z.string()), data: longText, encoding }),
  'agent.exited': () =>
    z.looseObject({
      agent,
      instance,
      outcome,
      ...exitFields,
      ...errorFields,
      durationMs: z.optional(milliseconds),
      /** Who ended it: the agent itself, or the host. */
      endedBy: z.optional(z.enum(['agent', 'host'])),
      stderr: z.optional(stderr),
    }),
})
