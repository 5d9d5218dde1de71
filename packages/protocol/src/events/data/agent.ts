import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import type { AgentMessage } from '../agent-message.ts'
import { count, encoding, errorFields, exitFields, longText, milliseconds, outcome } from './shared.ts'

const agent = () => z.string().check(z.minLength(1))
/** One start of an agent's program; the same agent may run several times. */
const instance = () => z.string().check(z.minLength(1))

/** The first 20 and the last 50 lines of its stderr. */
export const stderr = () => z.looseObject({ head: longText(), tail: z.optional(longText()), lines: count() })

// Any value is accepted, because a message is recorded as it was sent; the type is what the protocol allows.
const message = () => z.unknown() as z.ZodMiniType<AgentMessage>

export const agentData = lazily({
  'agent.installed': () => z.looseObject({ agent: agent(), version: z.optional(z.string()) }),
  /** `credentials` are names of the passed credentials, never values. */
  'agent.started': () =>
    z.looseObject({
      agent: agent(),
      instance: instance(),
      process: z.optional(z.string()),
      credentials: z.optional(z.array(z.string())),
    }),
  /** A JSON-RPC message as sent. */
  'agent.message': () =>
    z.looseObject({
      instance: z.optional(z.string()),
      /** `in`: to the agent; `out`: from the agent. */
      direction: z.enum(['in', 'out']),
      /** Texts over 64 KiB in it are references to blobs. */
      message: message(),
      /** The agent replays a message that the journal already has. */
      replay: z.optional(z.literal(true)),
    }),
  /** Output of the agent that is not a JSON-RPC message. */
  'agent.unparsed': () =>
    z.looseObject({ instance: z.optional(z.string()), data: longText(), encoding: encoding() }),
  'agent.exited': () =>
    z.looseObject({
      agent: agent(),
      instance: instance(),
      outcome: outcome(),
      ...exitFields(),
      ...errorFields(),
      durationMs: z.optional(milliseconds()),
      /** Whether the agent exited by itself or the host ended it. */
      endedBy: z.optional(z.enum(['agent', 'host'])),
      stderr: z.optional(stderr()),
    }),
})
