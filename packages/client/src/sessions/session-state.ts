import type { PendingPermission, PendingQuestion, SessionInfo } from '@vitrine/protocol'

/** A session as the server describes it, with its pending requests. */
export interface SessionState extends SessionInfo {
  readonly permissions: readonly PendingPermission[]
  readonly questions: readonly PendingQuestion[]
}

/** Whether an event of this type can change the session's state. */
export function changesSession(type: string): boolean {
  return /^(session|turn|permission|question)\./.test(type)
}

export function closedState(state: SessionState): SessionState {
  return { ...state, state: 'closed', busy: false, permissions: [], questions: [] }
}

/** Removes a permission or question that was just answered. */
export function withoutAnswered(state: SessionState, id: string): SessionState {
  return {
    ...state,
    permissions: state.permissions.filter((one) => one.id !== id),
    questions: state.questions.filter((one) => one.id !== id),
  }
}
