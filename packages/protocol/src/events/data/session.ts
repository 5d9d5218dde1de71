import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { stderr } from './agent.ts'
import { count, errorFields, exitFields, milliseconds, outcome } from './shared.ts'

const tokens = () => z.optional(count())

/** Tokens that a turn used, as the agent reports them. */
const usage = () =>
  z.looseObject({
    inputTokens: tokens(),
    outputTokens: tokens(),
    totalTokens: tokens(),
    cachedReadTokens: tokens(),
    cachedWriteTokens: tokens(),
    thoughtTokens: tokens(),
  })

/** The cost of a turn, as the agent reports it. */
const cost = () => z.looseObject({ amount: z.number(), currency: z.optional(z.string()) })

/** Tokens in the agent's context after a turn, and its capacity. */
const context = () => z.looseObject({ used: count(), size: z.optional(count()) })

/** Set if the agent sent more values than an event may have: long lists and objects have their first entries only. */
const truncated = () => z.optional(z.literal(true))

const promptFields = () => ({
  /** The parts of the prompt; for parts that are not text, only type and size. */
  prompt: z.optional(z.unknown()),
  /** Tells whether a prompt with the same turn id is the same prompt. */
  promptHash: z.optional(z.string()),
})

const connections = z.optional(
  z.array(
    z.looseObject({
      host: z.string(),
      port: z.int(),
      error: z.string(),
      allow: z.exactOptional(z.string()),
    }),
  ),
)

export const sessionData = lazily({
  'session.created': () =>
    z.looseObject({
      agent: z.string(),
      instance: z.optional(z.string()),
      /** The agent's id for this session. */
      agentSession: z.optional(z.string()),
      cwd: z.optional(z.string()),
      forkedFrom: z.optional(z.string()),
      truncated: truncated(),
    }),
  'session.updated': () =>
    z.looseObject({
      title: z.optional(z.nullable(z.string())),
      /** How the session was restored: by the agent itself, or by sending it the transcript. */
      restored: z.optional(z.enum(['load', 'resume', 'transcript'])),
      truncated: truncated(),
    }),
  'session.closed': () =>
    z.looseObject({
      reason: z.optional(z.string()),
      endedBy: z.optional(z.enum(['agent', 'host'])),
      stderr: z.optional(stderr()),
      ...exitFields(),
      ...errorFields(),
    }),
  'prompt.queued': () =>
    z.looseObject({
      ...promptFields(),
      /** The number of prompts before it, the running one included; 0 if it waits for its agent only. */
      position: count(),
    }),
  'prompt.dropped': () =>
    z.looseObject({
      ...promptFields(),
      /** A prompt that was not `cancelled` runs when it is sent again with its turn id. */
      reason: z.enum(['cancelled', 'closed', 'failed', 'interrupted']),
      /** The outcome that its caller got; absent if it got an error. */
      outcome: z.optional(outcome()),
      ...errorFields(),
    }),
  'turn.started': () => z.looseObject({ index: z.optional(count()), ...promptFields() }),
  'turn.finished': () =>
    z.looseObject({
      outcome: outcome(),
      /** The agent's stop reason; absent if it sent none. */
      stopReason: z.optional(z.string()),
      durationMs: z.optional(milliseconds()),
      usage: z.optional(usage()),
      cost: z.optional(cost()),
      context: z.optional(context()),
      modelError: z.optional(
        z.looseObject({
          sign: z.enum(['message', 'silence']),
          text: z.optional(z.string()),
          hint: z.optional(z.string()),
          connections,
        }),
      ),
      /** Of a turn that was stopped: the connections of the agent that failed during it. */
      connections,
      /** Tool calls that the agent left open and that were closed with the turn. */
      closedToolCalls: z.optional(z.array(z.string())),
      truncated: truncated(),
      ...errorFields(),
    }),
  'permission.requested': () =>
    z.looseObject({
      permission: z.string(),
      toolCall: z.optional(z.unknown()),
      options: z.optional(z.array(z.looseObject({ id: z.string(), name: z.string(), kind: z.string() }))),
      truncated: truncated(),
    }),
  'permission.resolved': () =>
    z.looseObject({
      permission: z.string(),
      outcome: outcome(),
      /** The kind of the option that was chosen, or `cancelled`. */
      answer: z.optional(z.string()),
      option: z.optional(z.string()),
      by: z.optional(z.string()),
    }),
  'question.requested': () =>
    z.looseObject({
      question: z.string(),
      message: z.optional(z.string()),
      mode: z.optional(z.enum(['form', 'url'])),
      schema: z.optional(z.unknown()),
      url: z.optional(z.string()),
      truncated: truncated(),
    }),
  'question.resolved': () =>
    z.looseObject({
      question: z.string(),
      outcome: outcome(),
      action: z.optional(z.enum(['accept', 'decline', 'cancel'])),
      content: z.optional(z.unknown()),
      truncated: truncated(),
      by: z.optional(z.string()),
    }),
})
