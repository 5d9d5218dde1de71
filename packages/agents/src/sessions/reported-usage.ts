import type { ContextUse, Cost, JsonObject } from '@vitrine/protocol'
import { numberIn, objectIn, textIn, withoutUndefined } from './fields.ts'

/** A point in a conversation, with the reports of the agent until then. */
export interface UsagePosition {
  readonly reports: number
  /** Of the whole conversation; undefined if unknown. */
  readonly cost: Cost | undefined
}

/** Cost and context of a conversation, as its agent reports them: the cost so far, and the size of the context now. */
export class ReportedUsage {
  #reports = 0
  #cost: Cost | undefined
  #context: ContextUse | undefined

  /** An agent that continues an earlier conversation does not say what that had cost. */
  startConversation(kind: 'new' | 'continued'): void {
    this.#cost = kind === 'new' ? { amount: 0 } : undefined
    this.#context = undefined
  }

  applyUpdate(update: JsonObject): void {
    if (update.sessionUpdate !== 'usage_update') return
    this.#reports += 1
    const cost = objectIn(update, 'cost')
    const amount = numberIn(cost, 'amount')
    const used = countIn(update, 'used')
    if (amount !== undefined)
      this.#cost = { amount, ...withoutUndefined({ currency: textIn(cost, 'currency') }) }
    if (used !== undefined) this.#context = { used, ...withoutUndefined({ size: countIn(update, 'size') }) }
  }

  position(): UsagePosition {
    return { reports: this.#reports, cost: this.#cost }
  }

  /** The cost since a position, and the context, if the agent has reported them since. */
  since({ reports, cost: before }: UsagePosition): { readonly cost?: Cost; readonly context?: ContextUse } {
    if (this.#reports === reports) return {}
    const cost = this.#cost === before ? undefined : difference(this.#cost, before)
    return withoutUndefined({ cost, context: this.#context })
  }
}

/** Undefined if one of them is unknown, or if they cannot be compared: an agent may begin to count again. */
function difference(after: Cost | undefined, before: Cost | undefined): Cost | undefined {
  if (after === undefined || before === undefined || after.amount < before.amount) return undefined
  if (before.amount > 0 && after.currency !== before.currency) return undefined
  // Without the error of the subtraction: 0.3 - 0.1 is 0.19999999999999998.
  return { ...after, amount: Number((after.amount - before.amount).toPrecision(12)) }
}

function countIn(value: unknown, key: string): number | undefined {
  const found = numberIn(value, key)
  return found !== undefined && Number.isInteger(found) && found >= 0 ? found : undefined
}
