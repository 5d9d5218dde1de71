import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AgentSessionState,
  nextSessionState,
  type SessionInput,
} from '../../src/sessions/session-state.ts'

interface Agent {
  readonly instance: number
}
type State = AgentSessionState<Agent, Agent>
type Input = SessionInput<Agent, Agent>

const done = Promise.resolve()
const restored = Promise.resolve<Agent>({ instance: 0 })
const attached = (instance: number): Input => ({ type: 'attached', agent: { instance } })
const exited = (instance: number): Input => ({ type: 'exited', instance, recording: done })
const recorded = (instance: number): Input => ({ type: 'exitRecorded', instance })
const restore: Input = { type: 'restore', restored }
const restoreEnded: Input = { type: 'restoreEnded' }
const close: Input = { type: 'close', closed: done }
const closed: Input = { type: 'closed' }

function run(...inputs: readonly Input[]): State {
  return inputs.reduce<State>((state, input) => nextSessionState(state, input), { phase: 'new' })
}

describe('a session', () => {
  it('is lost with its agent, and open again once a restored agent is attached', () => {
    expect(run(attached(1))).toMatchObject({ phase: 'open', agent: { instance: 1 } })
    expect(run(attached(1), exited(1), recorded(1))).toMatchObject({
      phase: 'lost',
      exit: { isRecorded: true },
    })
    const restoring = [attached(1), exited(1), recorded(1), restore, attached(2)]
    expect(run(...restoring)).toMatchObject({ phase: 'restoring', agent: { instance: 2 }, exit: undefined })
    expect(run(...restoring, restoreEnded)).toEqual({ phase: 'open', agent: { instance: 2 } })
  })

  it('stays lost when its agent could not be restored, or exits while it is', () => {
    const lost = { phase: 'lost', exit: { isRecorded: false } }
    expect(run(attached(1), exited(1), restore, restoreEnded)).toMatchObject(lost)
    expect(run(attached(1), exited(1), restore, attached(2), exited(2), restoreEnded)).toMatchObject({
      ...lost,
      agent: { instance: 2 },
    })
  })

  it('records the exit of an agent that is restored before the exit is observed', () => {
    const state = run(attached(1), restore, exited(1), recorded(1))
    expect(state).toMatchObject({ phase: 'restoring', exit: { isRecorded: true } })
  })

  it('keeps the agent that a restore attaches while it closes, so that the close ends it', () => {
    const state = run(attached(1), exited(1), restore, close, attached(2))
    expect(state).toMatchObject({ phase: 'closing', agent: { instance: 2 }, exit: undefined })
  })
})

const instance = fc.integer({ min: 1, max: 3 })
const anyInput: fc.Arbitrary<Input> = fc.oneof(
  instance.map(attached),
  instance.map(exited),
  instance.map(recorded),
  fc.constantFrom(restore, restoreEnded, close, closed),
)

it('never opens again once it closes, and closes once, in any order of inputs', () => {
  fc.assert(
    fc.property(fc.array(anyInput, { maxLength: 40 }), (inputs) => {
      let state: State = { phase: 'new' }
      for (const input of inputs) {
        const before: State = state
        state = nextSessionState(state, input)
        if (before.phase === 'closing') expect(['closing', 'closed']).toContain(state.phase)
        if (before.phase === 'closed') expect(state).toBe(before)
        if (state.phase === 'closed' && before.phase !== 'closed') expect(before.phase).toBe('closing')
        // An exit belongs to the agent that is attached.
        if (input.type === 'exited' && state !== before)
          expect('agent' in before && before.agent?.instance).toBe(input.instance)
        if (input.type === 'attached' && state !== before && 'exit' in state)
          expect(state.exit).toBeUndefined()
      }
    }),
    { numRuns: 500 },
  )
})
