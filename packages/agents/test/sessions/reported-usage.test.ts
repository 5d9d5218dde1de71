import type { Cost, JsonObject } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { ReportedUsage } from '../../src/sessions/reported-usage.ts'

function conversation(kind: 'new' | 'continued', ...reports: readonly JsonObject[]): ReportedUsage {
  const reported = new ReportedUsage()
  reported.startConversation(kind)
  for (const report of reports) reported.applyUpdate(update(report))
  return reported
}

function update(report: JsonObject): JsonObject {
  return { sessionUpdate: 'usage_update', ...report }
}

/** The usage of a turn in which the agent sends these reports. */
function usageOfTurn(reported: ReportedUsage, ...reports: readonly JsonObject[]) {
  const before = reported.position()
  for (const report of reports) reported.applyUpdate(update(report))
  return reported.since(before)
}

const dollars = (amount: number) => ({ cost: { amount, currency: 'USD' } satisfies Cost })

describe('the usage of a turn', () => {
  it('is the difference of the reported costs, and the context that was reported last', () => {
    const reported = conversation('new')
    const first = [{ ...dollars(0.1), used: 10 }]
    const second = [
      { ...dollars(0.2), used: 20 },
      { ...dollars(0.3), used: 30, size: 100 },
    ]
    expect(usageOfTurn(reported, ...first)).toEqual({ ...dollars(0.1), context: { used: 10 } })
    expect(usageOfTurn(reported, ...second)).toEqual({ ...dollars(0.2), context: { used: 30, size: 100 } })
  })

  it('is unknown without a report in the turn, also when an earlier turn has one', () => {
    const reported = conversation('new')
    expect(usageOfTurn(reported)).toEqual({})
    usageOfTurn(reported, { ...dollars(1), used: 1 })
    expect(usageOfTurn(reported)).toEqual({})
  })

  it('has no cost when the agent reports only its context', () => {
    expect(usageOfTurn(conversation('new'), { used: 5 })).toEqual({ context: { used: 5 } })
  })

  it('has a cost of zero only when the agent says so', () => {
    expect(usageOfTurn(conversation('new'), dollars(0))).toEqual(dollars(0))
  })

  it('has no cost in the first turn of a continued conversation, whose earlier cost is unknown', () => {
    const reported = conversation('continued')
    expect(usageOfTurn(reported, dollars(5))).toEqual({})
    expect(usageOfTurn(reported, dollars(6))).toEqual(dollars(1))
  })

  it('counts from a report between the opening and the first turn', () => {
    expect(usageOfTurn(conversation('continued', dollars(5)), dollars(7))).toEqual(dollars(2))
  })

  it('has no cost when the agent began to count again, or counts in another currency', () => {
    expect(usageOfTurn(conversation('new', dollars(5)), dollars(1))).toEqual({})
    const euros = { cost: { amount: 6, currency: 'EUR' } }
    expect(usageOfTurn(conversation('new', dollars(5)), euros)).toEqual({})
  })

  it.each([
    ['an amount that is no number', { cost: { amount: '5' }, used: 1.5 }],
    ['no object', { cost: 5, used: -1 }],
    ['nothing', {}],
  ])('is unknown for a report of %s', (_what, report) => {
    expect(usageOfTurn(conversation('new'), report)).toEqual({})
  })
})
