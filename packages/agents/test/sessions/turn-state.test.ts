import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  nextTurnState,
  type TurnInput,
  type TurnState,
  type TurnStep,
} from '../../src/sessions/turn-state.ts'

interface Prompt {
  readonly turn: string
}
type State = TurnState<Prompt, string>
type Input = TurnInput<Prompt, string>
type Step = TurnStep<Prompt, string>

const prompt = (turn: string, maxWaiting = 3): Input => ({ type: 'prompt', prompt: { turn }, maxWaiting })
const short = (effect: Step['effects'][number]) => `${effect.type} ${effect.prompt.turn}`

/** Applies inputs, and returns the last state with all effects. */
function run(...inputs: readonly Input[]) {
  let state: State = { phase: 'idle' }
  const effects: string[] = []
  for (const input of inputs) {
    const step: Step = nextTurnState(state, input)
    state = step.state
    effects.push(...step.effects.map(short))
  }
  return { state, effects }
}

/** Everything that a turn without trouble goes through. */
const whole = (turn: string): Input[] => [
  { type: 'ready', turn, active: turn },
  { type: 'started', turn },
  { type: 'answered', turn },
  { type: 'ended', turn },
]
const running = (turn: string): Input[] => [prompt(turn), ...whole(turn).slice(0, 2)]

describe('the turns of a session', () => {
  it('run one at a time, in order, also after a failed one', () => {
    const failed: Input = { type: 'ended', turn: 'b' }
    const { state, effects } = run(
      prompt('a'),
      prompt('b'),
      prompt('c'),
      ...whole('a'),
      failed,
      ...whole('c'),
    )
    expect(state).toEqual({ phase: 'idle' })
    expect(effects).toEqual([
      ...['prepare a', 'queue b', 'queue c', 'start a', 'send a'],
      ...['prepare b', 'prepare c', 'start c', 'send c'],
    ])
  })

  it('refuse a prompt beyond the queue, and any second one without a queue', () => {
    expect(run(prompt('a'), prompt('b', 1), prompt('c', 1)).effects.at(-1)).toBe('refuse c')
    const { effects } = nextTurnState<Prompt, string>(run(prompt('a')).state, prompt('b', 0))
    expect(effects).toMatchObject([{ type: 'refuse', code: 'session_busy' }])
  })

  it('drop a prompt that is stopped before its turn starts, and go on with the next', () => {
    const { state, effects } = run(prompt('a'), prompt('b'), { type: 'stop', turn: 'a', reason: 'cancelled' })
    expect(effects.slice(2)).toEqual(['drop a', 'prepare b'])
    expect(state).toMatchObject({ phase: 'preparing', prompt: { turn: 'b' }, waiting: [] })
  })

  it('send the prompt before the cancel when a turn is stopped during its start', () => {
    const stop: Input = { type: 'stop', turn: 'a', reason: 'cancelled' }
    const { state, effects } = run(prompt('a'), { type: 'ready', turn: 'a', active: 'a' }, stop, {
      type: 'started',
      turn: 'a',
    })
    expect(effects.slice(-2)).toEqual(['send a', 'cancel a'])
    expect(state).toMatchObject({ phase: 'cancelling', stop: 'cancelled' })
  })

  it('keep the first reason to stop, and ignore one after the response', () => {
    const timeout: Input = { type: 'stop', turn: 'a', reason: 'timeout' }
    const cancel: Input = { type: 'stop', turn: 'a', reason: 'cancelled' }
    const answered: Input = { type: 'answered', turn: 'a' }
    expect(run(...running('a'), timeout, cancel).state).toMatchObject({ stop: 'timeout' })
    expect(run(...running('a'), answered, cancel).state).not.toHaveProperty('stop')
    expect(run(...running('a'), timeout, answered).state).toMatchObject({
      phase: 'finishing',
      stop: 'timeout',
    })
  })

  it('drop all that wait and stop the one at work when they are all stopped', () => {
    const { effects, state } = run(...running('a'), prompt('b'), prompt('c'), {
      type: 'stopAll',
      reason: 'closed',
    })
    expect(effects.slice(-3)).toEqual(['drop b', 'drop c', 'cancel a'])
    expect(state).toMatchObject({ phase: 'cancelling', waiting: [] })
  })

  it('record a prompt that waits for its agent as closed, although its caller gets a cancel', () => {
    const { state } = run(prompt('a'), prompt('b'))
    const dropped = (input: Input) => nextTurnState(state, input).effects.map(({ type, ...rest }) => rest)
    expect(dropped({ type: 'stopAll', reason: 'closed' })).toEqual([
      { prompt: { turn: 'b' }, reason: 'closed', result: 'session_closed' },
      { prompt: { turn: 'a' }, reason: 'closed', result: 'cancelled' },
    ])
    expect(dropped({ type: 'stopAll', reason: 'cancelled' })).toEqual([
      { prompt: { turn: 'b' }, reason: 'cancelled', result: 'cancelled' },
      { prompt: { turn: 'a' }, reason: 'cancelled', result: 'cancelled' },
    ])
    expect(dropped({ type: 'stop', turn: 'a', reason: 'cancelled' })[0]).toEqual({
      prompt: { turn: 'a' },
      reason: 'cancelled',
      result: 'cancelled',
    })
  })
})

const turn = fc.constantFrom('0', '1', '2', '3', '4', '5', '6', '7')
const anyInput: fc.Arbitrary<Input | 'new' | 'go on'> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('new' as const) },
  { weight: 6, arbitrary: fc.constant('go on' as const) },
  fc.record({
    type: fc.constant('stop' as const),
    turn,
    reason: fc.constantFrom('cancelled' as const, 'timeout' as const),
  }),
  fc.record({
    type: fc.constant('stopAll' as const),
    reason: fc.constantFrom('cancelled' as const, 'closed' as const),
  }),
)

it('gives every prompt one end, whether it is dropped, cancelled or run, in any order of inputs', () => {
  fc.assert(
    fc.property(fc.array(anyInput, { maxLength: 60 }), (inputs) => {
      let state: State = { phase: 'idle' }
      let count = 0
      const log: string[] = []
      const accepted: string[] = []
      const apply = (input: Input) => {
        const step: Step = nextTurnState(state, input)
        state = step.state
        log.push(...step.effects.map(short))
        if (input.type === 'prompt' && step.effects[0]?.type !== 'refuse') accepted.push(input.prompt.turn)
      }
      /** Applies the next input that the prompt at work leads to without trouble. */
      const goOn = () => {
        if (state.phase === 'idle') return
        const { turn } = state.prompt
        const next = { preparing: 0, starting: 1, running: 2, cancelling: 2, finishing: 3 }[state.phase]
        if (state.phase === 'finishing') log.push(`end ${turn}`)
        apply(whole(turn)[next] as Input)
      }
      for (const input of inputs) {
        if (input === 'new') {
          apply(prompt(String(count)))
          count += 1
        } else if (input === 'go on') goOn()
        else apply(input)
      }
      while (state.phase !== 'idle') goOn()
      for (const one of accepted) {
        const own = log.filter((line) => line.split(' ')[1] === one).map((line) => line.split(' ')[0])
        const times = (word: string) => own.filter((each) => each === word).length
        expect(times('drop') + times('end'), `${one}: ${own}`).toBe(1)
        expect(times('start'), `${one}: ${own}`).toBe(times('end'))
        expect(times('send'), `${one}: ${own}`).toBe(times('start'))
        expect(times('cancel'), `${one}: ${own}`).toBeLessThanOrEqual(times('send'))
        if (times('cancel') === 1) expect(own.indexOf('cancel')).toBeGreaterThan(own.indexOf('send'))
      }
      const edges = log.filter((line) => line.startsWith('start ') || line.startsWith('end '))
      for (const [at, line] of edges.entries())
        expect(line).toBe(at % 2 === 0 ? line.replace('end', 'start') : `end ${edges[at - 1]?.split(' ')[1]}`)
    }),
    { numRuns: 500 },
  )
})

it('ignores late inputs about a prompt that is not at work', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Input['type']>('ready', 'started', 'answered', 'ended', 'stop'),
      fc.constantFrom(...[1, 2, 3, 4].map((length) => [prompt('a'), ...whole('a').slice(0, length - 1)])),
      (type, inputs) => {
        const { state } = run(...inputs)
        const late = { type, turn: 'gone', active: 'x', reason: 'cancelled' } as Input
        expect(nextTurnState(state, late)).toEqual({ state, effects: [] })
      },
    ),
  )
})
