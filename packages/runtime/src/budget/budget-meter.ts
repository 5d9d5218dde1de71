import type { ReportedUse } from '../events/reported-use.ts'
import type { SandboxEvent } from '../events/sandbox-event.ts'
import {
  type BudgetBreach,
  breachOf,
  nothingSpent,
  type RunBudget,
  type Spend,
  spendOfEvent,
  spendOfReport,
} from './budget.ts'

/** Counts what a run uses, and ends the turn that exceeds a limit. */
export class BudgetMeter {
  readonly #budget: RunBudget
  #spend: Spend = nothingSpent
  /** When the first turn began, on the monotonic clock. */
  #began: number | undefined
  /** A timer may fire a fraction of a millisecond before its time on the monotonic clock. */
  #isTimeOver = false

  constructor(budget: RunBudget) {
    this.#budget = budget
  }

  get spend(): Spend {
    return this.#spend
  }

  /** Starts the clock of a turn. */
  begin(): TurnMeter {
    this.#began ??= performance.now()
    const began = this.#began
    const exceeded = new AbortController()
    let breach: BudgetBreach | undefined
    const exceed = (found: BudgetBreach | undefined) => {
      if (found === undefined || breach !== undefined) return
      breach = found
      exceeded.abort(found)
    }
    const use = (spend: Spend) => {
      this.#spend = spend
      exceed(breachOf(this.#budget, spend))
    }
    exceed(breachOf(this.#budget, this.#spend))
    const { wallMs } = this.#budget
    const used = () => performance.now() - began
    const endTime = (max: number) => {
      this.#isTimeOver = true
      exceed({ limit: 'wallMs', max, used: Math.max(max, Math.round(used())) })
    }
    if (wallMs !== undefined && (this.#isTimeOver || used() >= wallMs)) endTime(wallMs)
    const timer = wallMs === undefined ? undefined : setTimeout(endTime, Math.max(0, wallMs - used()), wallMs)
    return {
      exceeded: exceeded.signal,
      get breach() {
        return breach
      },
      checkTurn: () => {
        const { turns } = this.#spend
        const { turns: max = Number.POSITIVE_INFINITY } = this.#budget
        if (turns >= max) exceed({ limit: 'turns', max, used: turns })
      },
      countTurn: () => use({ ...this.#spend, turns: this.#spend.turns + 1 }),
      count: (event) => {
        const spend = spendOfEvent(this.#spend, event)
        if (spend !== this.#spend) use(spend)
      },
      report: (report) => use(spendOfReport(this.#spend, report)),
      end: () => clearTimeout(timer),
    }
  }
}

/** The meter of one turn. */
export interface TurnMeter {
  /** Aborts when a limit is exceeded. */
  readonly exceeded: AbortSignal
  readonly breach: BudgetBreach | undefined
  /** Exceeds the budget if no turn is left. */
  checkTurn(): void
  countTurn(): void
  count(event: SandboxEvent): void
  /** Counts what the end of the turn reports. */
  report(report: ReportedUse): void
  end(): void
}
