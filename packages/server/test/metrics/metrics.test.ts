import { callbackSink } from '@vitrine/journal'
import type { JsonObject } from '@vitrine/protocol'
import parse from 'parse-prometheus-text-format'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type TestDaemon } from '../daemon.ts'
import { openStream } from '../streams/reading.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

/** Every family by its name, as Prometheus reads them. */
async function scrape() {
  const response = await daemon.fetch('/metrics')
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4')
  const families = parse(await response.text())
  return new Map(families.map((family) => [family.name, family]))
}

/** The value of a sample; nothing where there is none with these labels. */
async function sample(
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const found = (await scrape())
    .get(name)
    ?.metrics.find((one) => JSON.stringify(one.labels ?? {}) === JSON.stringify(labels))
  return found && Number(found.value)
}

describe('The metrics of a daemon', () => {
  it('have these names, types and labels, each once', async () => {
    await daemon.call('GET', '/v1/health')
    const text = await (await daemon.fetch('/metrics')).text()
    const families = parse(text)
    expect(families.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'vitrine_requests_total COUNTER',
      'vitrine_streams_open GAUGE',
      'vitrine_sandboxes GAUGE',
      'vitrine_turns_total COUNTER',
      'vitrine_tokens_total COUNTER',
      'vitrine_cost_total COUNTER',
      'vitrine_store_healthy GAUGE',
      'vitrine_sink_lag GAUGE',
      'vitrine_uptime_seconds GAUGE',
      'process_resident_memory_bytes GAUGE',
    ])
    const labels = Object.fromEntries(
      families.map(({ name, metrics }) => [name, Object.keys(metrics[0]?.labels ?? {})]),
    )
    expect(labels).toMatchObject({
      vitrine_requests_total: ['route', 'status'],
      vitrine_streams_open: [],
      vitrine_sandboxes: ['state'],
    })
    for (const { help, metrics } of families) {
      expect(help).toMatch(/^[A-Z].*\.$/)
      for (const { value } of metrics) expect(value).toMatch(/^\d+$/)
      const said = metrics.map((one) => JSON.stringify(one.labels))
      expect(new Set(said).size).toBe(said.length)
    }
    // The parser is lenient: this is the format itself.
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? \d+)$/)
  })

  it('count the requests of each route by their status', async () => {
    const counts = async () => [
      (await sample('vitrine_requests_total', { route: 'fileExists', status: '200' })) ?? 0,
      (await sample('vitrine_requests_total', { route: 'fileExists', status: '400' })) ?? 0,
      (await sample('vitrine_requests_total', { route: 'getSandbox', status: '404' })) ?? 0,
    ]
    expect(await counts()).toEqual([0, 0, 0])
    for (let count = 0; count < 3; count += 1) await daemon.call('GET', '/v1/files/exists?path=a')
    expect((await daemon.fetch('/v1/files/exists')).status).toBe(400)
    for (let count = 0; count < 2; count += 1) await daemon.fetch('/v1/sandboxes/none')
    expect(await counts()).toEqual([3, 1, 2])
  })

  it('sum the tokens and the cost of finished turns, each turn once, also those of earlier daemons', async () => {
    const journal = await daemon.host.store.journal('sbx_spending')
    const finish = (turn: string, data: JsonObject) =>
      journal.append([
        { type: 'turn.started', turn, data: {} },
        { type: 'turn.finished', turn, data: { outcome: 'ok', ...data } },
      ])
    const sums = async () => [
      await sample('vitrine_turns_total', { outcome: 'ok' }),
      await sample('vitrine_tokens_total', { kind: 'input' }),
      await sample('vitrine_tokens_total', { kind: 'output' }),
      await sample('vitrine_cost_total', { currency: 'USD' }),
    ]
    expect(await sums()).toEqual([undefined, undefined, undefined, undefined])
    await finish('turn_1', {
      usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
      cost: { amount: 0.5, currency: 'USD' },
    })
    expect(await sums()).toEqual([1, 10, 2, 0.5])
    await finish('turn_2', { usage: { inputTokens: 5 } })
    await finish('turn_3', { cost: { amount: 0.25, currency: 'USD' } })
    expect(await sums()).toEqual([3, 15, 2, 0.75])
    expect(await sums()).toEqual([3, 15, 2, 0.75])
  })

  it('count open streams only', async () => {
    expect(await sample('vitrine_streams_open')).toBe(0)
    const gone = new AbortController()
    const streams = await Promise.all([openStream(daemon), openStream(daemon)])
    const third = await daemon.fetch('/v1/events', {
      headers: { accept: 'text/event-stream' },
      signal: gone.signal,
    })
    expect(third.ok).toBe(true)
    expect(await sample('vitrine_streams_open')).toBe(3)
    gone.abort()
    await expect.poll(() => sample('vitrine_streams_open')).toBe(2)
    for (const { body } of streams) await body?.cancel()
    await expect.poll(() => sample('vitrine_streams_open')).toBe(0)
  })

  it('count the sandboxes by state', async () => {
    expect(await sample('vitrine_sandboxes', { state: 'running' })).toBe(1)
    const { id } = await daemon.call('POST', '/v1/sandboxes', { local: { isolation: 'none' } })
    expect(await sample('vitrine_sandboxes', { state: 'running' })).toBe(2)
    await daemon.call('DELETE', `/v1/sandboxes/${id}`)
    expect(await sample('vitrine_sandboxes', { state: 'running' })).toBe(1)
    expect(await sample('vitrine_sandboxes', { state: 'destroyed' })).toBe(1)
  })

  it('show the lag of a sink whose name needs escaping', async () => {
    const name = 'a "quoted" \\ sink'
    const held = Promise.withResolvers<void>()
    const { store } = daemon.host
    const sink = await store.addSink(
      name,
      callbackSink(() => held.promise),
    )
    await daemon.call('POST', '/v1/exec', { command: 'true' })
    await expect.poll(() => sample('vitrine_sink_lag', { sink: name })).toBeGreaterThan(0)
    held.resolve()
    await expect.poll(() => sample('vitrine_sink_lag', { sink: name })).toBe(0)
    await sink.close()
  })

  it('show the health of the store and the memory of the daemon', async () => {
    expect(await sample('vitrine_store_healthy')).toBe(1)
    expect(await sample('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  })
})
