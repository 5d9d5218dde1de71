import type { PendingPermission, PendingQuestion, SessionInfo } from '@vitrine/protocol'

/** A session as the server tells it: what it is, and what it waits for. */
export interface SessionState extends SessionInfo {
  readonly permissions: readonly PendingPermission[]
  readonly questions: readonly PendingQuestion[]
}

/** Events after which a session is not what it was. */
export function changesSession(type: string): boolean {
  return /^(session|turn|permission|question)\./.test(type)
}

export function closedState(state: SessionState): SessionState {
  return { ...state, state: 'closed', busy: false, permissions: [], questions: [] }
}

/** Without what was answered just now. */
export function withoutAnswered(state: SessionState, id: string): SessionState {
  return {
    ...state,
    permissions: state.permissions.filter((one) => one.id !== id),
    questions: state.questions.filter((one) => one.id !== id),
  }
}
