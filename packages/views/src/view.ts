import type { JournalItem } from '@vitrine/protocol'

/**
 * A pure function from the events of one journal to display state. The state is plain JSON: it can be sent, stored and
 * continued elsewhere.
 *
 * @example
 * let state = view.empty
 * for await (const item of journal.tail()) state = view.add(state, [item])
 */
export interface View<State> {
  readonly empty: State
  /** Returns the state after these events. Does not modify `state`; unchanged parts are shared. */
  add(state: State, events: readonly JournalItem[]): State
}

/**
 * The state after all these events, starting from the empty state.
 *
 * @example
 * const files = rebuild(changedFilesView, page.events)
 */
export function rebuild<State>(view: View<State>, events: readonly JournalItem[]): State {
  return view.add(view.empty, events)
}
