import type { Cost, JsonObject, Usage } from '@vitrine/protocol'
import type { SandboxEvent } from './sandbox-event.ts'

/** Tokens and money as an agent reports them. A figure that it does not report is absent: it is unknown, and not zero. */
export interface ReportedUse {
  readonly usage?: Usage
  readonly cost?: Cost
  /** Costs in other currencies, which cannot be added to it. */
  readonly otherCosts?: readonly Cost[]
}

/**
 * The use of one call of a model, which an agent function reports as an event
 * `{ type: 'llm_call', data: { inputTokens, outputTokens, costUsd } }`; undefined for any other event.
 */
export function reportedUse({ type, data }: SandboxEvent): ReportedUse | undefined {
  if (type !== 'llm_call') return undefined
  const [inputTokens, outputTokens] = [amountIn(data, 'inputTokens'), amountIn(data, 'outputTokens')]
  const amount = amountIn(data, 'costUsd')
  const hasTokens = inputTokens !== undefined || outputTokens !== undefined
  return {
    ...(hasTokens && {
      usage: {
        ...(inputTokens !== undefined && { inputTokens }),
        ...(outputTokens !== undefined && { outputTokens }),
      },
    }),
    ...(amount !== undefined && { cost: { amount, currency: 'USD' } }),
  }
}

/** The sum of two reports. */
export function addUse(one: ReportedUse, other: ReportedUse): ReportedUse {
  const usage = sumOf(one.usage, other.usage)
  const [cost, ...otherCosts] = costsOf(other).reduce(withCost, costsOf(one))
  return {
    ...(usage !== undefined && { usage }),
    ...(cost !== undefined && { cost }),
    ...(otherCosts.length > 0 && { otherCosts }),
  }
}

function costsOf({ cost, otherCosts = [] }: ReportedUse): readonly Cost[] {
  return cost === undefined ? [] : [cost, ...otherCosts]
}

function withCost(costs: readonly Cost[], cost: Cost): readonly Cost[] {
  const { amount, currency } = cost
  if (costs.every((one) => one.currency !== currency)) return [...costs, cost]
  return costs.map((one) => (one.currency === currency ? { ...one, amount: one.amount + amount } : one))
}

/** All tokens of a report; undefined if it has none. */
export function tokensOf({ usage }: ReportedUse): number | undefined {
  if (usage === undefined) return undefined
  const { totalTokens, inputTokens, outputTokens } = usage
  if (totalTokens !== undefined) return totalTokens
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

function sumOf(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const sum: Record<string, number> = { ...one }
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + count
  return sum
}

function amountIn(data: JsonObject, name: string): number | undefined {
  const value = data[name]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
