import type { JournalItem } from '@vitrine/protocol'

/**
 * A pure function from the events of one journal to what people see. The state is plain JSON: it can be
 * sent, stored and gone on with elsewhere.
 *
 * @example
 * let state = view.empty
 * for await (const item of journal.tail()) state = view.add(state, [item])
 */
export interface View<State> {
  readonly empty: State
  /** The state after these events. What was handed in stays as it was and shares what did not change. */
  add(state: State, events: readonly JournalItem[]): State
}

/**
 * The state after all these events, from nothing.
 *
 * @example
 * const files = rebuild(changedFilesView, page.events)
 */
export function rebuild<State>(view: View<State>, events: readonly JournalItem[]): State {
  return view.add(view.empty, events)
}
