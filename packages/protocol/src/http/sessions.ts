import * as z from 'zod/mini'
import { permissionKind, promptFields, sessionFields } from '../options/session.ts'
import { strict } from '../options/strict.ts'
import { jsonObject } from '../options/values.ts'
import { agentInfo, installProgress, installResult } from './responses/agent.ts'
import { json } from './responses/json.ts'
import { streamPiece } from './responses/piece.ts'
import {
  acceptedTurn,
  promptResult,
  runningTurn,
  sessionDetail,
  sessionState,
  sessionSummary,
} from './responses/session.ts'
import { frames } from './responses/stream.ts'
import { transcript } from './responses/transcript.ts'
import { table } from './route.ts'
import { count, live } from './values.ts'

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
    summary: 'Opens a session with an agent; with `resume`, resumes the session with that id if it exists.',
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
    access: 'read',
    summary: 'Lists every session of the sandbox, open or closed, without starting it.',
    query: () => strict({ live: live() }),
    response: () => z.object({ sessions: z.array(sessionSummary()) }),
  },
  getSession: {
    ...one('GET', '', 'Returns a session, open or closed, without starting the sandbox.'),
    access: 'read',
    query: () => strict({ live: live() }),
    response: sessionDetail,
  },
  resumeSession: {
    ...one('POST', '/resume', 'Resumes a session that was closed or that belonged to an earlier host.'),
    body: () => strict(sessionFields()),
    bodyOptional: true,
    response: sessionState,
  },
  prompt: {
    ...one(
      'POST',
      '/prompt',
      'Sends a prompt to the agent. Responds once it is on record, or with `wait` when the turn has ended. A repeated request with the same `turn` is the same turn, also after a restart.',
    ),
    query: () => strict({ wait: z.optional(z.enum(['true', 'false', ''])) }),
    body: () =>
      strict({
        prompt: z.union([z.string(), z.array(jsonObject)]),
        ...promptFields(),
      }),
    status: 202,
    response: () => z.union([promptResult(), acceptedTurn()]),
    responseByStatus: () => ({ 200: promptResult(), 202: acceptedTurn() }),
  },
  getTurn: {
    ...one(
      'GET',
      '/turns/{turn}',
      'Returns the result of a turn; with `wait`, once it has ended or after that many milliseconds.',
    ),
    query: () => strict({ wait: z.optional(count()) }),
    response: () => z.union([promptResult(), runningTurn()]),
  },
  streamTurn: {
    ...one(
      'GET',
      '/turns/{turn}/pieces',
      'Streams the pieces of a turn, past ones and then new ones, until its `end`.',
    ),
    access: 'read',
    query: () => strict({ after: z.optional(z.string()) }),
    response: 'event-stream',
    frames: () => frames({ message: streamPiece() }),
  },
  cancelTurn: {
    ...one('POST', '/cancel', 'Cancels the running turn and the queued prompts.'),
    body: () => strict({ turn: z.optional(z.string()) }),
    bodyOptional: true,
    status: 204,
    response: 'nothing',
  },
  setOption: {
    ...one('PUT', '/options/{option}', 'Sets a mode, a model, a thought level, or another option.'),
    body: () => strict({ value: z.union([z.string(), z.boolean()]) }),
    response: sessionState,
  },
  setMode: {
    ...one('PUT', '/mode', 'Sets the mode.'),
    body: () => strict({ value: z.string() }),
    response: sessionState,
  },
  setModel: {
    ...one('PUT', '/model', 'Sets the model.'),
    body: () => strict({ value: z.string() }),
    response: sessionState,
  },
  setThoughtLevel: {
    ...one('PUT', '/thought-level', 'Sets the thought level.'),
    body: () => strict({ value: z.string() }),
    response: sessionState,
  },
  answerPermission: {
    ...one('POST', '/permissions/{permission}', 'Answers a pending permission request.'),
    body: () =>
      strict({
        answer: z.union([permissionKind(), z.literal('cancelled'), strict({ option: z.string() })]),
      }),
    status: 204,
    response: 'nothing',
  },
  answerQuestion: {
    ...one('POST', '/questions/{question}', 'Answers a pending question.'),
    body: () =>
      strict({
        action: z.enum(['accept', 'decline', 'cancel']),
        content: z.optional(z.record(z.string(), json())),
      }),
    status: 204,
    response: 'nothing',
  },
  readTranscript: {
    ...one('GET', '/transcript', 'Returns the transcript, up to a `seq` of the journal or up to now.'),
    access: 'read',
    query: () => strict({ at: z.optional(count()) }),
    response: transcript,
  },
  closeSession: {
    ...one('DELETE', '', 'Closes a session and, if no other session uses it, its agent.'),
    status: 204,
    response: 'nothing',
  },
  forkSession: {
    ...one('POST', '/fork', 'Opens a new session that continues from this one, if the agent supports it.'),
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
    summary: 'Lists the registered agents.',
    response: () => z.object({ agents: z.array(agentInfo()) }),
  },
  getAgent: {
    method: 'GET',
    path: '/agents/{agent}',
    scope: 'host',
    access: 'read',
    summary: 'Returns one agent.',
    response: agentInfo,
  },
  installAgent: {
    method: 'POST',
    path: '/agents/{agent}/install',
    scope: 'host',
    access: 'full',
    summary: 'Installs an agent; as an event stream, with its progress.',
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
