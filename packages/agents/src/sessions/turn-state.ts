/** Why a turn was asked to stop. */
export type StopCause = 'cancelled' | 'timeout'

/** Why a prompt ended before its turn started. */
export type DropReason = 'cancelled' | 'closed' | 'failed' | 'interrupted'

export type StopAllReason = Extract<DropReason, 'cancelled' | 'closed'>

interface Prompt {
  readonly turn: string
}

/**
 * The turns of one session: at most one prompt is at work, others wait. `Active` is what belongs to a started turn and
 * is passed through unseen.
 */
export type TurnState<P extends Prompt, Active> =
  | { readonly phase: 'idle' }
  /** The prompt waits for the agent; its turn has not started. */
  | { readonly phase: 'preparing'; readonly prompt: P; readonly waiting: readonly P[] }
  /** `turn.started` is being recorded. */
  | (Started<P, Active> & { readonly phase: 'starting'; readonly stop?: StopCause })
  /** The agent has the prompt. */
  | (Started<P, Active> & { readonly phase: 'running' })
  /** The agent was asked to stop. */
  | (Started<P, Active> & { readonly phase: 'cancelling'; readonly stop: StopCause })
  /** The agent has responded; `turn.finished` is not recorded yet. */
  | (Started<P, Active> & { readonly phase: 'finishing'; readonly stop?: StopCause })

interface Started<P, Active> {
  readonly prompt: P
  readonly waiting: readonly P[]
  readonly active: Active
}

export type TurnInput<P extends Prompt, Active> =
  | { readonly type: 'prompt'; readonly prompt: P; readonly maxWaiting: number }
  /** The agent of the prompt is there. */
  | { readonly type: 'ready'; readonly turn: string; readonly active: Active }
  /** `turn.started` is recorded. */
  | { readonly type: 'started'; readonly turn: string }
  /** The agent has responded to the prompt. */
  | { readonly type: 'answered'; readonly turn: string }
  /** The turn is over: its end is recorded, or it never started. */
  | { readonly type: 'ended'; readonly turn: string }
  | { readonly type: 'stop'; readonly turn: string; readonly reason: StopCause }
  /** Ends the prompts that have not started, with this reason, and stops the turn that has. */
  | { readonly type: 'stopAll'; readonly reason: StopAllReason }

/** Work to do after a transition, in this order. */
export type TurnEffect<P extends Prompt, Active> =
  | { readonly type: 'refuse'; readonly prompt: P; readonly code: 'session_busy' | 'session_queue_full' }
  | { readonly type: 'queue'; readonly prompt: P; readonly position: number }
  /** `reason` is for the record, and decides whether the prompt may be sent again; `result` is for the caller. */
  | {
      readonly type: 'drop'
      readonly prompt: P
      readonly reason: StopAllReason
      readonly result: 'cancelled' | 'session_closed'
    }
  | { readonly type: 'prepare'; readonly prompt: P }
  | { readonly type: 'start'; readonly prompt: P }
  | { readonly type: 'send'; readonly prompt: P; readonly active: Active }
  | { readonly type: 'cancel'; readonly prompt: P; readonly active: Active }

export interface TurnStep<P extends Prompt, Active> {
  readonly state: TurnState<P, Active>
  readonly effects: readonly TurnEffect<P, Active>[]
}

/** The only function that changes the state. An input that comes too late changes nothing. */
export function nextTurnState<P extends Prompt, Active>(
  state: TurnState<P, Active>,
  input: TurnInput<P, Active>,
): TurnStep<P, Active> {
  if (input.type === 'prompt') return addPrompt(state, input.prompt, input.maxWaiting)
  if (state.phase === 'idle') return unchanged(state)
  if (input.type === 'stopAll') return stopAll(state, input.reason)
  if (input.type === 'stop') return stop(state, input.turn, input.reason)
  if (input.turn !== state.prompt.turn) return unchanged(state)
  switch (input.type) {
    case 'ready':
      return state.phase === 'preparing' ? start(state, input.active) : unchanged(state)
    case 'started':
      return state.phase === 'starting' ? send(state) : unchanged(state)
    case 'answered':
      return state.phase === 'running' || state.phase === 'cancelling'
        ? { state: { ...state, phase: 'finishing' }, effects: [] }
        : unchanged(state)
    case 'ended':
      return prepareNext(state.waiting)
  }
}

function unchanged<P extends Prompt, Active>(state: TurnState<P, Active>): TurnStep<P, Active> {
  return { state, effects: [] }
}

function addPrompt<P extends Prompt, Active>(
  state: TurnState<P, Active>,
  prompt: P,
  maxWaiting: number,
): TurnStep<P, Active> {
  if (state.phase === 'idle') return prepareNext([prompt])
  const { waiting } = state
  if (waiting.length >= maxWaiting) {
    const code = maxWaiting === 0 ? 'session_busy' : 'session_queue_full'
    return { state, effects: [{ type: 'refuse', prompt, code }] }
  }
  return {
    state: { ...state, waiting: [...waiting, prompt] },
    effects: [{ type: 'queue', prompt, position: waiting.length + 1 }],
  }
}

function prepareNext<P extends Prompt, Active>(waiting: readonly P[]): TurnStep<P, Active> {
  const [prompt, ...others] = waiting
  if (prompt === undefined) return { state: { phase: 'idle' }, effects: [] }
  return { state: { phase: 'preparing', prompt, waiting: others }, effects: [{ type: 'prepare', prompt }] }
}

function start<P extends Prompt, Active>(
  { prompt, waiting }: { readonly prompt: P; readonly waiting: readonly P[] },
  active: Active,
): TurnStep<P, Active> {
  return {
    state: { phase: 'starting', prompt, waiting, active },
    effects: [{ type: 'start', prompt }],
  }
}

/** A turn that was stopped during its start: the agent gets the prompt before the cancel. */
function send<P extends Prompt, Active>({
  stop: reason,
  ...started
}: Started<P, Active> & { readonly stop?: StopCause }): TurnStep<P, Active> {
  const { prompt, waiting, active } = started
  const effect = { type: 'send', prompt, active } as const
  if (reason === undefined) return { state: { phase: 'running', prompt, waiting, active }, effects: [effect] }
  return {
    state: { phase: 'cancelling', prompt, waiting, active, stop: reason },
    effects: [effect, { type: 'cancel', prompt, active }],
  }
}

type Busy<P extends Prompt, Active> = Exclude<TurnState<P, Active>, { readonly phase: 'idle' }>

function stop<P extends Prompt, Active>(
  state: Busy<P, Active>,
  turn: string,
  reason: StopCause,
): TurnStep<P, Active> {
  if (turn === state.prompt.turn) return stopCurrent(state, reason)
  const dropped = state.waiting.find((one) => one.turn === turn)
  if (dropped === undefined) return unchanged(state)
  return {
    state: { ...state, waiting: state.waiting.filter((one) => one !== dropped) },
    effects: [{ type: 'drop', prompt: dropped, reason: 'cancelled', result: 'cancelled' }],
  }
}

function stopAll<P extends Prompt, Active>(
  state: Busy<P, Active>,
  reason: StopAllReason,
): TurnStep<P, Active> {
  const result = reason === 'closed' ? 'session_closed' : 'cancelled'
  const dropped = state.waiting.map((prompt) => ({ type: 'drop', prompt, reason, result }) as const)
  const stopped = stopCurrent({ ...state, waiting: [] }, 'cancelled', reason)
  return { state: stopped.state, effects: [...dropped, ...stopped.effects] }
}

function stopCurrent<P extends Prompt, Active>(
  state: Busy<P, Active>,
  reason: StopCause,
  dropReason: StopAllReason = 'cancelled',
): TurnStep<P, Active> {
  switch (state.phase) {
    case 'preparing': {
      const next = prepareNext<P, Active>(state.waiting)
      // To its caller the prompt was at work, so it is cancelled like a turn that has started.
      const drop = { type: 'drop', prompt: state.prompt, reason: dropReason, result: 'cancelled' } as const
      return { state: next.state, effects: [drop, ...next.effects] }
    }
    case 'starting':
      return { state: { ...state, stop: state.stop ?? reason }, effects: [] }
    case 'running':
      return {
        state: { ...state, phase: 'cancelling', stop: reason },
        effects: [{ type: 'cancel', prompt: state.prompt, active: state.active }],
      }
    // After the agent's response there is nothing to stop.
    case 'cancelling':
    case 'finishing':
      return unchanged(state)
  }
}
