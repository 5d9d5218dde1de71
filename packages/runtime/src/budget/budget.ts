import type { Cost, JsonObject } from '@vitrine/protocol'
import { addUse, type ReportedUse, reportedUse, tokensOf } from '../events/reported-use.ts'
import type { SandboxEvent } from '../events/sandbox-event.ts'

/** The limits of a run. An absent one is not limited. */
export interface RunBudget {
  /** Prompts that are sent. */
  readonly turns?: number
  /** Milliseconds since the first turn began. */
  readonly wallMs?: number
  /** Tokens that the agent reports, in total. */
  readonly tokens?: number
  /** Money that the agent reports, in each of its currencies. */
  readonly cost?: number
  /** Bytes of the output of processes and of the agent's texts. */
  readonly outputBytes?: number
  /** Processes that are started. */
  readonly processes?: number
}

export type BudgetLimit = keyof RunBudget

/** The use of a run so far. A total that no agent has reported is absent: it is unknown, and not zero. */
export interface Spend {
  readonly turns: number
  readonly tokens?: number
  readonly cost?: Cost
  /** Costs in other currencies, which cannot be added to it. */
  readonly otherCosts?: readonly Cost[]
  readonly outputBytes: number
  readonly processes: number
}

export const nothingSpent: Spend = { turns: 0, outputBytes: 0, processes: 0 }

/** A limit that was exceeded. */
export interface BudgetBreach {
  readonly limit: BudgetLimit
  readonly max: number
  readonly used: number
}

/** The spend after one more event of the run. */
export function spendOfEvent(spend: Spend, event: SandboxEvent): Spend {
  const { type, data } = event
  if (type === 'process.started') return { ...spend, processes: spend.processes + 1 }
  const use = reportedUse(event)
  if (use !== undefined) return spendOfReport(spend, use)
  const bytes = outputBytesOf(type, data)
  return bytes === 0 ? spend : { ...spend, outputBytes: spend.outputBytes + bytes }
}

/** The spend after one more report of an agent. */
export function spendOfReport(spend: Spend, report: ReportedUse): Spend {
  const tokens = tokensOf(report)
  const { usage: _, ...costs } = addUse(spend, report)
  return {
    ...spend,
    ...(tokens !== undefined && { tokens: (spend.tokens ?? 0) + tokens }),
    ...costs,
  }
}

/** The first limit that is exceeded. */
export function breachOf(
  budget: RunBudget,
  { turns, tokens, cost, otherCosts = [], outputBytes, processes }: Spend,
): BudgetBreach | undefined {
  const highest = cost && Math.max(cost.amount, ...otherCosts.map(({ amount }) => amount))
  const used = { turns, tokens, cost: highest, outputBytes, processes }
  for (const [limit, amount] of Object.entries(used) as [
    Exclude<BudgetLimit, 'wallMs'>,
    number | undefined,
  ][]) {
    const max = budget[limit]
    if (max !== undefined && amount !== undefined && amount > max) return { limit, max, used: amount }
  }
  return undefined
}

/** Bytes that the agent or its processes wrote. */
function outputBytesOf(type: string, data: JsonObject): number {
  if (type === 'process.output') return textBytes(data.data, data.encoding === 'base64' ? 'base64' : 'utf8')
  if (type !== 'agent.message') return 0
  const update = fieldOf(fieldOf(fieldOf(data, 'message'), 'params'), 'update')
  return textBytes(fieldOf(fieldOf(update, 'content'), 'text'), 'utf8')
}

/** The journal stores a long text as a blob, and its length beside it. */
function textBytes(text: unknown, encoding: 'utf8' | 'base64'): number {
  if (typeof text === 'string') return Buffer.byteLength(text, encoding)
  const bytes = fieldOf(text, 'bytes')
  return typeof bytes === 'number' ? bytes : 0
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
