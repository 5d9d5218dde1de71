import { type HostSandbox, readView, TurnPieceSource } from '@vitrine/host'
import {
  type ContentBlock,
  newId,
  type OpenSessionOptions,
  type PermissionAnswer,
  VitrineError,
} from '@vitrine/protocol'
import type { sessionRoutes } from '@vitrine/protocol/http'
import { PullIterator, settledWithin } from '@vitrine/protocol/primitives'
import { transcriptView } from '@vitrine/views'
import type { Daemon } from '../daemon/daemon.ts'
import { jsonResponse } from '../responses/json.ts'
import { slicedJsonResponse } from '../responses/sliced-json.ts'
import type { Call, HandlersOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { framesOf } from '../streams/sources.ts'
import { eventStream } from '../streams/stream.ts'
import { agentHandlers } from './agents.ts'

const maxWaitMs = 60_000

type ResumeOptions = Partial<Omit<OpenSessionOptions, 'id' | 'agent'>>
type OpenSession = Awaited<ReturnType<HostSandbox['openSession']>>

export function sessionHandlers(daemon: Daemon): HandlersOf<typeof sessionRoutes> {
  return {
    ...agentHandlers(daemon),
    async openSession({ body, signal, ...call }) {
      const { resume, ...given } = body
      const { id, ...rest } = given
      const options = { ...omitUndefined(rest), signal: signal() } as OpenSessionOptions
      const sandbox = await call.sandbox()
      if (!resume) return stateOf(await sandbox.openSession({ ...options, ...(id !== undefined && { id }) }))
      if (id === undefined)
        throw new VitrineError('argument_invalid', 'id: expected the id of a session to resume, got none.')
      return stateOf(await sandbox.sessions.resumeOrCreate({ ...options, id, context: sandbox.context }))
    },
    async listSessions({ query, signal, caller, ...call }) {
      if (query.live) return { sessions: await (await call.sandbox()).sessions.list() }
      const { sessions } = await call.look()
      return daemon.longReads.run(caller.name, signal(), async () =>
        slicedJsonResponse(200, { sessions: await sessions.list({ signal: signal() }) }),
      )
    },
    async getSession({ params, query, signal, caller, ...call }) {
      if (query.live) return stateOf(await sessionOf({ params, ...call }))
      const { sessions } = await call.look()
      return daemon.longReads.run(caller.name, signal(), async () =>
        jsonResponse(200, await sessions.get(params.session, { signal: signal() })),
      )
    },
    async resumeSession({ params, body, signal, ...call }) {
      const { sessions, context } = await call.sandbox()
      const options = { ...omitUndefined(body ?? {}), signal: signal() } as ResumeOptions
      return stateOf(await sessions.resume(params.session, { ...options, context }))
    },
    async prompt({ body, query, params, ...call }) {
      const { prompt, turn = newId('turn'), ...given } = body
      const isWaiting = query.wait !== undefined && query.wait !== 'false'
      const { sessions, context } = await call.sandbox()
      const { session: _session, turn: _turn, ...headers } = context
      const caller = { ...headers, ...omitUndefined(given) }
      // The cast is unchecked: ACP defines the blocks, and the agent validates them.
      const content = prompt as string | readonly ContentBlock[]
      const { accepted, result } = await sessions.prompt(params.session, content, { turn, caller })
      if (isWaiting) return jsonResponse(200, await result)
      await accepted
      return { turn }
    },
    async getTurn({ params, query, signal, ...call }) {
      const { session, turn } = params
      const { result } = await (await call.sandbox()).sessions.turn(session, turn)
      const waitMs = Math.min(query.wait ?? 0, maxWaitMs)
      const hasEnded = await settledWithin(result, waitMs, { signal: signal(), ref: true })
      return hasEnded ? await result : { turn, running: true }
    },
    async streamTurn({ params, query, request, signal, ...call }) {
      const { session, turn } = params
      const after = request.header('last-event-id') ?? query.after
      const source = new TurnPieceSource(await call.journal(), { session, turn, after })
      await source.begin()
      const pieces = new PullIterator(source, signal())
      const streaming = daemon.metrics.streaming()
      const close = () => {
        void pieces.return()
        streaming()
      }
      return eventStream(
        framesOf(pieces, (piece) => piece, {
          close,
          closing: daemon.closing,
          cursors: { start: after, of: ({ cursor }) => cursor },
        }),
        daemon.streams,
      )
    },
    async cancelTurn({ body, ...call }) {
      const session = await sessionOf(call)
      if (body?.turn === undefined) await session.cancel()
      else session.cancelTurn(body.turn)
    },
    async setOption({ params, body, ...call }) {
      const session = await sessionOf({ params, ...call })
      await session.setConfigOption(params.option, body.value, call.context())
      return stateOf(session)
    },
    async setMode({ body, ...call }) {
      const session = await sessionOf(call)
      await session.setMode(body.value, call.context())
      return stateOf(session)
    },
    async setModel({ body, ...call }) {
      const session = await sessionOf(call)
      await session.setModel(body.value, call.context())
      return stateOf(session)
    },
    async setThoughtLevel({ body, ...call }) {
      const session = await sessionOf(call)
      await session.setThoughtLevel(body.value, call.context())
      return stateOf(session)
    },
    async answerPermission({ params, body, caller, ...call }) {
      const session = await sessionOf({ params, ...call })
      const answer = body.answer as PermissionAnswer
      await session.respondPermission(params.permission, answer, caller.name, call.context())
    },
    async answerQuestion({ params, body, caller, ...call }) {
      const session = await sessionOf({ params, ...call })
      const { action, content } = body
      const answer = content === undefined ? { action } : { action, content }
      await session.respondQuestion(params.question, answer, caller.name, call.context())
    },
    async readTranscript({ params, query, signal, caller, ...call }) {
      const journal = await call.journal()
      const { session } = params
      const options = { session, until: query.at, signal: signal() }
      return daemon.longReads.run(caller.name, signal(), async () =>
        slicedJsonResponse(200, await readView(journal, transcriptView({ session }), options)),
      )
    },
    async closeSession(call) {
      await (await sessionOf(call)).close('closed', call.context())
    },
    async forkSession({ body, ...call }) {
      const session = await sessionOf(call)
      return stateOf(
        await session.fork({ context: call.context(), ...(body?.id !== undefined && { id: body.id }) }),
      )
    },
  }
}

interface SessionCall extends Pick<Call, 'sandbox'> {
  readonly params: { readonly session: string }
}

async function sessionOf({ params, sandbox }: SessionCall): Promise<OpenSession> {
  return (await sandbox()).sessions.get(params.session)
}

function stateOf({ info, permissions, questions }: OpenSession) {
  return { ...info, permissions, questions }
}
