import type { Host } from '@vitrine/host'

/** What a daemon counts of itself, in the text form of Prometheus. Bounded: routes and statuses are few. */
export class Metrics {
  readonly #requests = new Map<string, Map<number, number>>()
  readonly #startedAt = performance.now()
  #streams = 0

  /** Counts what a route answers, by status. */
  counter(route: string): (status: number) => void {
    const counts = new Map<number, number>()
    this.#requests.set(route, counts)
    return (status) => void counts.set(status, (counts.get(status) ?? 0) + 1)
  }

  /** A stream is open until what is given back is called. */
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
    const states = Map.groupBy(host.list(), ({ state }) => state)
    const { rss } = process.memoryUsage()
    return [
      metric('vitrine_requests_total', 'counter', 'Requests answered.', this.#requestCounts()),
      metric('vitrine_streams_open', 'gauge', 'Streams of events that are open.', [['', this.#streams]]),
      metric(
        'vitrine_sandboxes',
        'gauge',
        'Sandboxes by state.',
        [...states].map(([state, all]) => [`state="${state}"`, all.length]),
      ),
      metric('vitrine_store_healthy', 'gauge', 'Whether events can be committed.', [
        ['', host.store.health.status === 'ok' ? 1 : 0],
      ]),
      metric(
        'vitrine_sink_lag',
        'gauge',
        'Events that a sink has yet to see.',
        host.store.sinks.map(({ name, lag }) => [`sink="${escapeLabel(name)}"`, lag]),
      ),
      metric('vitrine_uptime_seconds', 'gauge', 'How long the daemon has run.', [
        ['', Math.round((performance.now() - this.#startedAt) / 1_000)],
      ]),
      metric('process_resident_memory_bytes', 'gauge', 'Memory of the daemon.', [['', rss]]),
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

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
