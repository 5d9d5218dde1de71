import * as z from 'zod/mini'
import { encoding, errorFields, exitFields, longText, milliseconds, outcome } from './shared.ts'

const agent = z.string().check(z.minLength(1))
/** One start of an agent's program; the same agent may run several times. */
const instance = z.string().check(z.minLength(1))

export const agentData = {
  'agent.installed': z.looseObject({ agent, version: z.optional(z.string()) }),
  'agent.started': z.looseObject({ agent, instance, process: z.optional(z.string()) }),
  /** A JSON-RPC envelope as it crossed the wire; `in` is towards the agent. */
  'agent.message': z.looseObject({
    instance: z.optional(z.string()),
    direction: z.enum(['in', 'out']),
    message: z.unknown(),
  }),
  /** Bytes where an envelope was due. */
  'agent.unparsed': z.looseObject({ instance: z.optional(z.string()), data: longText, encoding }),
  'agent.exited': z.looseObject({
    agent,
    instance,
    outcome,
    ...exitFields,
    ...errorFields,
    durationMs: z.optional(milliseconds),
  }),
}
