import * as z from 'zod/mini'
import { idPattern } from '../ids.ts'
import { lazily } from '../lazy.ts'
import { longestTimer } from '../primitives/time-limit.ts'
import { isTraceparent } from '../traceparent.ts'
import { types } from './journal.ts'
import { strict } from './strict.ts'
import {
  callable,
  duration,
  jsonObject,
  milliseconds,
  signal,
  text,
  texts,
  textsByName,
  variables,
  whole,
} from './values.ts'

export const permissionKind = () => z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always'])

const decision = () => z.enum(['ask', 'allow', 'deny'])

export const permissions = () =>
  z.union([
    decision(),
    strict({
      default: z.optional(decision()),
      allow: z.optional(texts()),
      allowAlways: z.optional(texts()),
      deny: z.optional(texts()),
      timeoutMs: z.optional(duration()),
      onTimeout: z.optional(z.union([permissionKind(), z.literal('cancelled')])),
    }),
  ])

/** The extension field of the Agent Client Protocol. */
const meta = () => ({ _meta: z.optional(z.nullable(jsonObject)) })

const namedValues = () => z.array(strict({ name: text(), value: z.string(), ...meta() }))

const mcpServer = () =>
  z.union([
    strict({ name: text(), command: text(), args: texts(), env: namedValues(), ...meta() }),
    strict({ type: z.enum(['http', 'sse']), name: text(), url: text(), headers: namedValues(), ...meta() }),
  ])

/** The JSON part of the options to open or resume a session. */
export const sessionFields = () => ({
  cwd: z.optional(z.string()),
  credentials: z.optional(z.union([z.enum(['none', 'env', 'host']), textsByName()])),
  modelEndpoint: z.optional(
    strict({ url: z.string(), key: z.optional(z.string()), model: z.optional(z.string()) }),
  ),
  mcpServers: z.optional(z.array(mcpServer())),
  model: z.optional(z.string()),
  mode: z.optional(z.string()),
  thoughtLevel: z.optional(z.string()),
  env: z.optional(textsByName()),
  permissions: z.optional(permissions()),
  limits: z.optional(
    strict({
      idleMs: z.optional(milliseconds()),
      totalMs: z.optional(milliseconds()),
      cancelMs: z.optional(milliseconds(0)),
    }),
  ),
  queue: z.optional(whole()),
  restoreChars: z.optional(whole()),
})

const traceparentForm = 'expected the W3C form 00-<32 hex>-<16 hex>-<2 hex>'

/** The id of a turn, chosen by the caller. */
const turnId = () =>
  z.string().check(z.regex(idPattern, 'expected an id of letters, digits, "_", "." and "-", 128 at most'))

/** The JSON part of the options of a prompt. */
export const promptFields = () => ({
  turn: z.optional(turnId()),
  run: z.optional(text()),
  actor: z.optional(text()),
  traceparent: z.optional(z.string().check(z.refine(isTraceparent, traceparentForm))),
})

/** The context that a host takes in its own process. A server sets `caller` from the token, never from the request. */
export const callContext = () =>
  strict({
    caller: z.optional(z.string()),
    run: z.optional(z.string()),
    session: z.optional(z.string()),
    turn: z.optional(z.string()),
    actor: z.optional(z.string()),
    traceparent: z.optional(z.string()),
  })

/** A tool of the host; its name and its schema are checked when it is registered. */
const tool = () =>
  strict({
    name: z.string(),
    description: z.string(),
    input: jsonObject,
    run: callable(),
  })

/** A count or a number of bytes, at most a 32-bit integer. */
const amount = (least = 1) => whole(least, longestTimer)

/** Options that only a host in the same process accepts. */
const inProcess = () => ({
  env: z.optional(variables()),
  tools: z.optional(z.array(tool())),
  context: z.optional(callContext()),
  signal: z.optional(signal()),
})

export const sessionOptions = lazily({
  context: callContext,
  open: () => strict({ id: z.optional(z.string()), agent: z.string(), ...sessionFields(), ...inProcess() }),
  resume: () => strict({ ...sessionFields(), ...inProcess() }),
  prompt: () => strict({ ...promptFields(), signal: z.optional(signal()) }),
  stream: () =>
    strict({
      ...promptFields(),
      after: z.optional(z.custom<string>(() => true)),
      signal: z.optional(signal()),
    }),
  answer: () =>
    strict({
      action: z.enum(['accept', 'decline', 'cancel']),
      content: z.optional(jsonObject),
    }),
  events: () =>
    strict({
      types: z.optional(types()),
      after: z.optional(z.custom<string>(() => true)),
      signal: z.optional(signal()),
    }),
  onEvent: () => strict({ types: z.optional(types()) }),
  fork: () => strict({ id: z.optional(z.string()), context: z.optional(callContext()) }),
  /** Limits on the host's resources for serving a session's tools. */
  toolLimits: () =>
    strict({
      bodyBytes: z.optional(amount()),
      heldBytes: z.optional(amount()),
      resultBytes: z.optional(amount()),
      callMs: z.optional(milliseconds()),
      calls: z.optional(amount()),
      waiting: z.optional(amount(0)),
      batch: z.optional(amount()),
      connections: z.optional(amount()),
      idleMs: z.optional(milliseconds()),
    }),
})
