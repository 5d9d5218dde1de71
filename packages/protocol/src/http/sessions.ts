import * as z from 'zod/mini'
import { permissionKind, sessionFields } from '../options/session.ts'
import { strict } from '../options/strict.ts'
import { jsonObject } from '../options/values.ts'
import { agentInfo, installProgress, installResult } from './responses/agent.ts'
import { json } from './responses/json.ts'
import { acceptedTurn, promptResult, runningTurn, sessionInfo, sessionState } from './responses/session.ts'
import { frames } from './responses/stream.ts'
import { transcript } from './responses/transcript.ts'
import { table } from './route.ts'
import { count } from './values.ts'

const one = <const Rest extends string>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  rest: Rest,
  summary: string,
) => ({ method, path: `/sessions/{session}${rest}`, scope: 'sandbox', access: 'full', summary }) as const

export const sessionRoutes = table({
  openSession: {
    method: 'POST',
    path: '/sessions',
    scope: 'sandbox',
    access: 'full',
    summary: 'Opens a session with an agent; with `resume`, brings back the one of that id if there is one.',
    body: () =>
      strict({
        agent: z.string(),
        id: z.optional(z.string()),
        ...sessionFields(),
        resume: z.optional(z.boolean()),
      }),
    status: 201,
    response: sessionState,
  },
  listSessions: {
    method: 'GET',
    path: '/sessions',
    scope: 'sandbox',
    // It asks the sandbox, and shows the agent's own words: who may only look on has the journal.
    access: 'full',
    summary: 'Every session of the sandbox, open or closed.',
    response: () => z.object({ sessions: z.array(sessionInfo()) }),
  },
  getSession: { ...one('GET', '', 'One session that is open.'), response: sessionState },
  resumeSession: {
    ...one('POST', '/resume', 'Brings a session back that an earlier host had, or that was closed.'),
    body: () => strict(sessionFields()),
    bodyOptional: true,
    response: sessionState,
  },
  prompt: {
    ...one(
      'POST',
      '/prompt',
      'Says something to the agent. Answers at once, or with `wait` when the turn has ended. Sent again with the same `turn`, it is the same prompt.',
    ),
    query: () => strict({ wait: z.optional(z.enum(['true', 'false', ''])) }),
    body: () =>
      strict({
        prompt: z.union([z.string(), z.array(jsonObject)]),
        turn: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_.-]{1,128}$/))),
        /** It may have been sent before, to a daemon that is gone: the record is looked at first. */
        again: z.optional(z.boolean()),
      }),
    status: 202,
    response: () => z.union([promptResult(), acceptedTurn()]),
    responseByStatus: () => ({ 200: promptResult(), 202: acceptedTurn() }),
  },
  getTurn: {
    ...one(
      'GET',
      '/turns/{turn}',
      'How a turn ended; with `wait`, once it has, or after so many milliseconds.',
    ),
    query: () => strict({ wait: z.optional(count) }),
    response: () => z.union([promptResult(), runningTurn()]),
  },
  cancelTurn: {
    ...one('POST', '/cancel', 'Ends the turn that runs, and answers those that wait.'),
    body: () => strict({ turn: z.optional(z.string()) }),
    bodyOptional: true,
    status: 204,
    response: 'nothing',
  },
  setOption: {
    ...one('PUT', '/options/{option}', 'Chooses a mode, a model, a thought level, or another option.'),
    body: () => strict({ value: z.union([z.string(), z.boolean()]) }),
    response: sessionState,
  },
  setMode: {
    ...one('PUT', '/mode', 'Chooses a mode.'),
    body: () => strict({ value: z.string() }),
    response: sessionState,
  },
  setModel: {
    ...one('PUT', '/model', 'Chooses a model.'),
    body: () => strict({ value: z.string() }),
    response: sessionState,
  },
  setThoughtLevel: {
    ...one('PUT', '/thought-level', 'Chooses a thought level.'),
    body: () => strict({ value: z.string() }),
    response: sessionState,
  },
  answerPermission: {
    ...one('POST', '/permissions/{permission}', 'Answers a permission that the agent waits for.'),
    body: () =>
      strict({
        answer: z.union([permissionKind(), z.literal('cancelled'), strict({ option: z.string() })]),
      }),
    status: 204,
    response: 'nothing',
  },
  answerQuestion: {
    ...one('POST', '/questions/{question}', 'Answers a question that the agent waits for.'),
    body: () =>
      strict({
        action: z.enum(['accept', 'decline', 'cancel']),
        content: z.optional(z.record(z.string(), json())),
      }),
    status: 204,
    response: 'nothing',
  },
  readTranscript: {
    ...one('GET', '/transcript', 'What was said and done, up to a `seq` of the journal or up to now.'),
    access: 'read',
    query: () => strict({ at: z.optional(count) }),
    response: transcript,
  },
  closeSession: {
    ...one('DELETE', '', 'Ends a session and, if nobody else needs it, its agent.'),
    status: 204,
    response: 'nothing',
  },
  forkSession: {
    ...one('POST', '/fork', 'Another session that goes on from here, where the agent can.'),
    body: () => strict({ id: z.optional(z.string()) }),
    bodyOptional: true,
    status: 201,
    response: sessionState,
  },
  listAgents: {
    method: 'GET',
    path: '/agents',
    scope: 'host',
    access: 'read',
    summary: 'The agents there are.',
    response: () => z.object({ agents: z.array(agentInfo()) }),
  },
  getAgent: {
    method: 'GET',
    path: '/agents/{agent}',
    scope: 'host',
    access: 'read',
    summary: 'One agent.',
    response: agentInfo,
  },
  installAgent: {
    method: 'POST',
    path: '/agents/{agent}/install',
    scope: 'host',
    access: 'full',
    summary: 'Installs an agent; as a stream, with its progress.',
    body: () =>
      strict({
        agentVersion: z.optional(z.nullable(z.string())),
        agentProcessVersion: z.optional(z.nullable(z.string())),
        reinstall: z.optional(z.nullable(z.boolean())),
      }),
    bodyOptional: true,
    response: installResult,
    streams: true,
    frames: () => frames({ progress: installProgress(), result: installResult() }),
  },
})
