import { expect, it } from 'vitest'
import { breachOf, nothingSpent, spendOfReport } from '../../src/budget/budget.ts'
import { addUse } from '../../src/events/reported-use.ts'

const cost = (amount: number, currency: string) => ({ cost: { amount, currency } })

it('adds costs of one currency, and keeps others apart', () => {
  const all = [cost(2, 'EUR'), cost(1, 'USD'), cost(3, 'EUR')].reduce(addUse, {})
  expect(all).toEqual({ ...cost(5, 'EUR'), otherCosts: [{ amount: 1, currency: 'USD' }] })
})

it('compares a limit of cost with each currency', () => {
  const spend = [cost(1, 'EUR'), cost(4, 'USD')].reduce(spendOfReport, nothingSpent)
  expect(breachOf({ cost: 3 }, spend)).toEqual({ limit: 'cost', max: 3, used: 4 })
  expect(breachOf({ cost: 4 }, spend)).toBeUndefined()
})
