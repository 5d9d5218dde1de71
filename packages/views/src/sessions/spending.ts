import type { Cost, Usage } from '@vitrine/protocol'
import { type Fields, omitUndefined } from '../fields.ts'
import { costIn, sumOfUsage, usageOf } from '../transcript/usage.ts'

/** An agent names the currency, so their number needs a limit. */
const maxCurrencies = 8

/** The use of turns, as far as they reported it. */
export interface Spending {
  readonly tokens?: Usage
  readonly cost?: readonly Cost[]
}

/** Adds what the data of a `turn.finished` reports. */
export function withTurnSpending({ tokens, cost }: Spending, data: Fields): Spending {
  const usage = usageOf(data)
  const amount = costIn(data)
  return omitUndefined({
    tokens: usage === undefined ? tokens : sumOfUsage(tokens ?? {}, usage),
    cost: amount === undefined ? cost : withCost(cost ?? [], amount),
  })
}

/** One sum for each currency; money without a currency is one of its own. */
function withCost(costs: readonly Cost[], { amount, currency }: Cost): readonly Cost[] {
  const index = costs.findIndex((one) => one.currency === currency)
  const known = costs[index]
  if (known === undefined)
    return costs.length < maxCurrencies ? [...costs, { amount, ...omitUndefined({ currency }) }] : costs
  const sum = known.amount + amount
  return Number.isFinite(sum) ? costs.with(index, { ...known, amount: sum }) : costs
}
