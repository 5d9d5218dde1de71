import { describe, expect, it } from 'vitest'
import { breachOf, nothingSpent, spendOfEvent, spendOfReport } from '../../src/budget/budget.ts'

const message = (text: string) => ({
  type: 'agent.message',
  data: { message: { params: { update: { content: { type: 'text', text } } } } },
})

describe('the spend of a run', () => {
  it('counts processes and bytes of output by their events', () => {
    const events = [
      { type: 'process.started', data: {} },
      { type: 'process.output', data: { data: 'é' } },
      message('abc'),
      { type: 'file.created', data: { data: 'not output' } },
    ]
    expect(events.reduce(spendOfEvent, nothingSpent)).toEqual({ turns: 0, outputBytes: 5, processes: 1 })
  })

  it('has the tokens and the cost that turns report, and neither while no turn reports it', () => {
    const silent = spendOfReport(nothingSpent, {})
    expect(silent).toEqual(nothingSpent)
    const first = spendOfReport(silent, {
      usage: { totalTokens: 10 },
      cost: { amount: 0.5, currency: 'USD' },
    })
    const second = spendOfReport(first, { usage: { inputTokens: 3, outputTokens: 4 } })
    expect(second).toMatchObject({ tokens: 17, cost: { amount: 0.5, currency: 'USD' } })
    const third = spendOfEvent(second, { type: 'llm_call', data: { inputTokens: 1, costUsd: 0.25 } })
    expect(third).toMatchObject({ tokens: 18, cost: { amount: 0.75, currency: 'USD' } })
    expect(spendOfEvent(third, { type: 'llm_call', data: { inputTokens: 'many', costUsd: -1 } })).toEqual(
      third,
    )
  })
})

describe('a budget', () => {
  it('is exceeded by more than its limit, not by its limit', () => {
    const spend = { ...nothingSpent, turns: 2, tokens: 10 }
    expect(breachOf({ turns: 2, tokens: 10 }, spend)).toBeUndefined()
    expect(breachOf({ turns: 2, tokens: 9 }, spend)).toEqual({ limit: 'tokens', max: 9, used: 10 })
  })

  it('is not exceeded by what is unknown', () => {
    expect(breachOf({ tokens: 0, cost: 0 }, nothingSpent)).toBeUndefined()
  })
})
