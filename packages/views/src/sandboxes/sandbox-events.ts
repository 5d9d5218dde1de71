import { type JournalEvent, matchTypes, type WaitingRequest } from '@vitrine/protocol'
import { asFields, idIn, omitUndefined } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { withTurnSpending } from '../sessions/spending.ts'
import { withRequest } from '../sessions/waiting.ts'
import type { ListedSandbox } from './sandboxes-view.ts'

export interface SandboxRequest extends WaitingRequest {
  readonly session?: string
}

const isActivity = matchTypes([
  'sandbox.*',
  'operation.*',
  'session.*',
  'turn.*',
  'permission.*',
  'question.*',
])

export function newSandbox(event: JournalEvent): ListedSandbox {
  return {
    id: event.journal,
    state: 'stopped',
    openSessions: [],
    sessions: 0,
    waiting: [],
    last: momentOf(event),
  }
}

/** The sandbox after an event of its journal; undefined if the event does not change it. */
export function withSandboxEvent(sandbox: ListedSandbox, event: JournalEvent): ListedSandbox | undefined {
  if (event.type === 'journal.recovered') return stoppedSandbox(sandbox)
  if (!isActivity(event.type)) return undefined
  return { ...applied(sandbox, event), last: momentOf(event) }
}

/** A destroyed sandbox stays destroyed. */
export function stoppedSandbox(sandbox: ListedSandbox): ListedSandbox {
  return withState(sandbox, 'stopped')
}

function applied(sandbox: ListedSandbox, event: JournalEvent): ListedSandbox {
  switch (event.type) {
    case 'sandbox.created': {
      const provider = idIn(asFields(event.data), 'provider')
      return { ...sandbox, createdAt: momentOf(event), ...omitUndefined({ provider }) }
    }
    case 'sandbox.ready':
    case 'sandbox.resumed':
      return withState(sandbox, 'running')
    case 'sandbox.paused':
      return withState(sandbox, 'paused')
    case 'sandbox.stopped':
      return withState(sandbox, 'stopped')
    case 'sandbox.destroyed':
      return withState(sandbox, 'destroyed')
    case 'session.created':
      return { ...withOpen(sandbox, event.session), sessions: sandbox.sessions + 1 }
    case 'session.updated':
      return asFields(event.data).restored === undefined ? sandbox : withOpen(sandbox, event.session)
    case 'session.closed':
      return withClosed(sandbox, event.session)
    case 'turn.finished':
      return { ...sandbox, ...withTurnSpending(sandbox, asFields(event.data)) }
    case 'permission.requested':
    case 'permission.resolved':
    case 'question.requested':
    case 'question.resolved':
      return {
        ...sandbox,
        waiting: withRequest(sandbox.waiting, event, (request) => ofSession(request, event)),
      }
    default:
      return sandbox
  }
}

function ofSession(request: WaitingRequest, { session }: JournalEvent): SandboxRequest {
  return { ...request, ...omitUndefined({ session }) }
}

function withState(sandbox: ListedSandbox, state: ListedSandbox['state']): ListedSandbox {
  if (sandbox.state === 'destroyed') return sandbox
  const isUp = state === 'running' || state === 'paused'
  return isUp ? { ...sandbox, state } : { ...sandbox, state, openSessions: [], waiting: [] }
}

function withOpen(sandbox: ListedSandbox, session: string | undefined): ListedSandbox {
  const { openSessions } = sandbox
  if (!session || openSessions.includes(session)) return sandbox
  return { ...sandbox, openSessions: [...openSessions, session] }
}

function withClosed(sandbox: ListedSandbox, session: string | undefined): ListedSandbox {
  return {
    ...sandbox,
    openSessions: sandbox.openSessions.filter((one) => one !== session),
    waiting: sandbox.waiting.filter((one) => one.session !== session),
  }
}
