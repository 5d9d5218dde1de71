import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { jsonObject } from '../../options/values.ts'
import { outcome } from '../values.ts'

const tokens = z.exactOptional(z.int())

export const usage = component('Usage', () =>
  z.object({
    inputTokens: tokens,
    outputTokens: tokens,
    totalTokens: tokens,
    cachedReadTokens: tokens,
    cachedWriteTokens: tokens,
    thoughtTokens: tokens,
  }),
)

export const cost = component('Cost', () =>
  z.object({ amount: z.number(), currency: z.exactOptional(z.string()) }),
)

export const contextUse = component('ContextUse', () =>
  z.object({ used: z.int(), size: z.exactOptional(z.int()) }),
)

export const failedConnection = component('FailedConnection', () =>
  z.object({ host: z.string(), port: z.int(), error: z.string(), allow: z.exactOptional(z.string()) }),
)

export const modelError = component('ModelErrorSign', () =>
  z.object({
    sign: z.enum(['message', 'silence']),
    text: z.exactOptional(z.string()),
    hint: z.exactOptional(z.string()),
    connections: z.exactOptional(z.array(failedConnection())),
  }),
)

export const configChoice = component('ConfigChoice', () =>
  z.object({ value: z.string(), name: z.string(), description: z.exactOptional(z.string()) }),
)

export const configOption = component('ConfigOption', () =>
  z.object({
    id: z.string(),
    name: z.string(),
    category: z.exactOptional(z.string()),
    current: z.exactOptional(z.union([z.string(), z.boolean()])),
    choices: z.array(configChoice()),
    static: z.exactOptional(z.literal(true)),
  }),
)

const infoFields = () => ({
  id: z.string(),
  agent: z.string(),
  state: z.enum(['open', 'closed']),
  createdAt: z.string(),
  cwd: z.string(),
  title: z.exactOptional(z.string()),
  turns: z.int(),
  lastTurn: z.exactOptional(z.object({ id: z.string(), outcome: outcome() })),
  busy: z.boolean(),
  options: z.array(configOption()),
  agentSession: z.exactOptional(z.string()),
})

export const moment = component('Moment', () => z.object({ seq: z.int(), time: z.string() }))

const shortText = z.exactOptional(z.string())

/** A session's work according to its journal. */
const sessionActivity = component('SessionActivity', () =>
  z.object({
    turn: z.exactOptional(z.object({ id: z.string(), since: moment() })),
    queued: z.array(z.object({ turn: z.string(), since: moment(), text: shortText })),
    waiting: z.array(
      z.object({
        kind: z.enum(['permission', 'question']),
        id: z.string(),
        since: moment(),
        turn: z.exactOptional(z.string()),
        text: shortText,
      }),
    ),
    tokens: z.exactOptional(usage()),
    /** One for each currency. */
    cost: z.exactOptional(z.array(cost())),
    context: z.exactOptional(contextUse()),
    outcome: z.exactOptional(outcome()),
    last: moment(),
  }),
)

/** Absent in the answer to a call of the sandbox. */
const activityField = () => ({ activity: z.exactOptional(sessionActivity()) })

export const sessionSummary = component('SessionSummary', () =>
  z.object({ ...infoFields(), ...activityField() }),
)

export const pendingPermission = component('PendingPermission', () =>
  z.object({
    id: z.string(),
    toolCall: jsonObject,
    options: z.array(z.object({ id: z.string(), name: z.string(), kind: z.string() })),
  }),
)

export const pendingQuestion = component('PendingQuestion', () =>
  z.object({
    id: z.string(),
    message: z.string(),
    mode: z.enum(['form', 'url']),
    schema: z.exactOptional(jsonObject),
    url: z.exactOptional(z.string()),
  }),
)

const pendingFields = () => ({
  permissions: z.array(pendingPermission()),
  questions: z.array(pendingQuestion()),
})

/** The current state of a session, with its pending permissions and questions. */
export const sessionState = component('SessionState', () => z.object({ ...infoFields(), ...pendingFields() }))

export const sessionDetail = component('SessionDetail', () =>
  z.object({ ...infoFields(), ...activityField(), ...pendingFields() }),
)

export const promptResult = component('PromptResult', () =>
  z.object({
    turn: z.string(),
    outcome: outcome(),
    stopReason: z.exactOptional(z.string()),
    usage: z.exactOptional(usage()),
    cost: z.exactOptional(cost()),
    context: z.exactOptional(contextUse()),
    modelError: z.exactOptional(modelError()),
    connections: z.exactOptional(z.array(failedConnection())),
  }),
)

export const acceptedTurn = component('AcceptedTurn', () => z.object({ turn: z.string() }))

export const runningTurn = component('RunningTurn', () =>
  z.object({ turn: z.string(), running: z.literal(true) }),
)
