import type { Host } from '@vitrine/host'
import { TurnSums } from './turn-sums.ts'

/** The daemon's metrics in the text format of Prometheus. Bounded: there are few routes and statuses. */
export class Metrics {
  readonly #requests = new Map<string, Map<number, number>>()
  readonly #sums = new TurnSums()
  readonly #startedAt = performance.now()
  #streams = 0

  /** Returns a function that counts a response of the route by status. */
  counter(route: string): (status: number) => void {
    const counts = new Map<number, number>()
    this.#requests.set(route, counts)
    return (status) => void counts.set(status, (counts.get(status) ?? 0) + 1)
  }

  /** Counts an open stream until the returned function is called. */
  streaming(): () => void {
    this.#streams += 1
    let open = true
    return () => {
      if (open) this.#streams -= 1
      open = false
    }
  }

  #requestCounts(): [string, number][] {
    return [...this.#requests].flatMap(([route, counts]) =>
      [...counts].map(([status, count]): [string, number] => [`route="${route}",status="${status}"`, count]),
    )
  }

  async text(host: Host): Promise<string> {
    const states = Map.groupBy(host.infos(), ({ state }) => state)
    const { rss } = process.memoryUsage()
    const sums = this.#sums
    await sums.update(host.store)
    return [
      metric('vitrine_requests_total', 'counter', 'Requests by route and status.', this.#requestCounts()),
      metric('vitrine_streams_open', 'gauge', 'Open event streams.', [['', this.#streams]]),
      metric(
        'vitrine_sandboxes',
        'gauge',
        'Sandboxes by state.',
        [...states].map(([state, all]) => [`state="${state}"`, all.length]),
      ),
      metric('vitrine_turns_total', 'counter', 'Finished turns in the store by outcome.', [
        ...labelled('outcome', sums.turns),
      ]),
      metric('vitrine_tokens_total', 'counter', 'Tokens that agents reported for finished turns, by kind.', [
        ...labelled('kind', sums.tokens),
      ]),
      metric('vitrine_cost_total', 'counter', 'Cost that agents reported for finished turns, by currency.', [
        ...labelled('currency', sums.cost),
      ]),
      metric('vitrine_store_healthy', 'gauge', 'Whether events can be committed.', [
        ['', host.store.health.status === 'ok' ? 1 : 0],
      ]),
      metric(
        'vitrine_sink_lag',
        'gauge',
        'Events that a sink has not read yet.',
        host.store.sinks.map(({ name, lag }) => [`sink="${escapeLabel(name)}"`, lag]),
      ),
      metric('vitrine_uptime_seconds', 'gauge', 'Seconds since the daemon started.', [
        ['', Math.round((performance.now() - this.#startedAt) / 1_000)],
      ]),
      metric('process_resident_memory_bytes', 'gauge', 'Resident memory of the daemon.', [['', rss]]),
    ].join('')
  }
}

function metric(
  name: string,
  kind: 'counter' | 'gauge',
  help: string,
  samples: readonly (readonly [string, number])[],
): string {
  const lines = samples.map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`
}

function labelled(label: string, sums: ReadonlyMap<string, number>): [string, number][] {
  return [...sums].map(([value, sum]) => [`${label}="${escapeLabel(value)}"`, sum])
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
