import type { Store } from '@vitrine/journal'
import { isGap, readPages } from '@vitrine/protocol'

const pageEvents = 500
/** Agents name the currency, so their number needs a limit. */
const maxCurrencies = 8

type Sums = Map<string, number>

/** Sums of tokens and cost of the turns in the store, as far as their agents reported them. Each turn is read once. */
export class TurnSums {
  readonly turns: Sums = new Map()
  readonly tokens: Sums = new Map()
  readonly cost: Sums = new Map()
  #after: string | undefined
  #reading: Promise<void> = Promise.resolve()

  /** Adds the turns that finished since the last call. */
  update(store: Pick<Store, 'read'>): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#read(store))
    return this.#reading
  }

  async #read(store: Pick<Store, 'read'>): Promise<void> {
    const query = {
      types: ['turn.finished'],
      limit: pageEvents,
      ...(this.#after !== undefined && { after: this.#after }),
    }
    for await (const { events, cursor } of readPages(store, query)) {
      for (const event of events) if (!isGap(event)) this.#add(event.data)
      this.#after = cursor
    }
  }

  #add({ outcome, usage, cost }: Readonly<Record<string, unknown>>): void {
    add(this.turns, String(outcome), 1)
    for (const [name, count] of Object.entries(fieldsOf(usage))) {
      const kind = kinds[name]
      if (kind !== undefined) add(this.tokens, kind, count)
    }
    const { amount, currency } = fieldsOf(cost)
    const unit = typeof currency === 'string' ? currency : ''
    if (this.cost.has(unit) || this.cost.size < maxCurrencies) add(this.cost, unit, amount)
  }
}

/** The total is left out: a sum over kinds would count tokens twice. */
const kinds: Readonly<Record<string, string>> = {
  inputTokens: 'input',
  outputTokens: 'output',
  cachedReadTokens: 'cached_read',
  cachedWriteTokens: 'cached_write',
  thoughtTokens: 'thought',
}

function add(sums: Sums, label: string, count: unknown): void {
  if (typeof count !== 'number' || !(count > 0) || !Number.isFinite(count)) return
  sums.set(label, (sums.get(label) ?? 0) + count)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
