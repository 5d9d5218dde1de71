interface Attached {
  readonly instance: unknown
}

/** The exit of the attached agent, and how far its record is. */
export interface Exit {
  /** Settles once the exit is recorded, or the close of the session records it. */
  readonly recording: Promise<void>
  /** `session.closed` is appended, and the session was not restored since. */
  readonly isRecorded: boolean
}

/** A session and its agent. `Agent` is the agent that was attached last. */
export type AgentSessionState<Agent extends Attached, Restored> =
  /** No agent is attached yet. */
  | { readonly phase: 'new' }
  | { readonly phase: 'open'; readonly agent: Agent }
  /** The agent has exited; the next prompt starts it again. */
  | { readonly phase: 'lost'; readonly agent: Agent; readonly exit: Exit }
  /** An agent is being started and gets the conversation and its options again. */
  | {
      readonly phase: 'restoring'
      readonly agent: Agent
      readonly exit?: Exit | undefined
      readonly restored: Promise<Restored>
    }
  | {
      readonly phase: 'closing'
      readonly agent?: Agent | undefined
      readonly exit?: Exit | undefined
      /** The restore that was under way when the close began. */
      readonly restored?: Promise<Restored> | undefined
      readonly closed: Promise<void>
    }
  | { readonly phase: 'closed'; readonly agent?: Agent | undefined; readonly closed: Promise<void> }

export type SessionInput<Agent extends Attached, Restored> =
  | { readonly type: 'attached'; readonly agent: Agent }
  | { readonly type: 'exited'; readonly instance: Agent['instance']; readonly recording: Promise<void> }
  | { readonly type: 'exitRecorded'; readonly instance: Agent['instance'] }
  | { readonly type: 'restore'; readonly restored: Promise<Restored> }
  /** The restore has ended, with or without an agent. */
  | { readonly type: 'restoreEnded' }
  | { readonly type: 'close'; readonly closed: Promise<void> }
  | { readonly type: 'closed' }

/** The only function that changes the state. An input that comes too late changes nothing. */
export function nextSessionState<Agent extends Attached, Restored>(
  state: AgentSessionState<Agent, Restored>,
  input: SessionInput<Agent, Restored>,
): AgentSessionState<Agent, Restored> {
  switch (input.type) {
    case 'attached':
      return attach(state, input.agent)
    case 'exited':
      return exit(state, input.instance, { recording: input.recording, isRecorded: false })
    case 'exitRecorded':
      return setExitRecorded(state, input.instance)
    case 'restore':
      return state.phase === 'open' || state.phase === 'lost'
        ? { ...state, phase: 'restoring', restored: input.restored }
        : state
    case 'restoreEnded':
      return endRestore(state)
    case 'close':
      return state.phase === 'closing' || state.phase === 'closed'
        ? state
        : { ...state, phase: 'closing', closed: input.closed }
    case 'closed':
      return state.phase === 'closing' ? { phase: 'closed', agent: state.agent, closed: state.closed } : state
  }
}

function attach<Agent extends Attached, Restored>(
  state: AgentSessionState<Agent, Restored>,
  agent: Agent,
): AgentSessionState<Agent, Restored> {
  switch (state.phase) {
    case 'new':
    case 'open':
    case 'lost':
      return { phase: 'open', agent }
    // A closing session keeps the agent, so that its close ends it.
    case 'restoring':
    case 'closing':
      return { ...state, agent, exit: undefined }
    case 'closed':
      return state
  }
}

function exit<Agent extends Attached, Restored>(
  state: AgentSessionState<Agent, Restored>,
  instance: Agent['instance'],
  observed: Exit,
): AgentSessionState<Agent, Restored> {
  if (state.phase === 'new' || state.agent?.instance !== instance) return state
  switch (state.phase) {
    case 'open':
      return { phase: 'lost', agent: state.agent, exit: observed }
    case 'restoring':
    case 'closing':
      return { ...state, exit: observed }
    case 'lost':
    case 'closed':
      return state
  }
}

function setExitRecorded<Agent extends Attached, Restored>(
  state: AgentSessionState<Agent, Restored>,
  instance: Agent['instance'],
): AgentSessionState<Agent, Restored> {
  if (!('exit' in state) || state.exit === undefined || state.agent?.instance !== instance) return state
  return { ...state, exit: { ...state.exit, isRecorded: true } }
}

function endRestore<Agent extends Attached, Restored>(
  state: AgentSessionState<Agent, Restored>,
): AgentSessionState<Agent, Restored> {
  if (state.phase !== 'restoring') return state
  const { agent, exit: observed } = state
  return observed === undefined ? { phase: 'open', agent } : { phase: 'lost', agent, exit: observed }
}
