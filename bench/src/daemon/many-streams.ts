import { measurement } from '../measurement.ts'
import { mebibytes, median, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import type { RawRequest } from './connection.ts'
import { startDaemon, token } from './daemon.ts'
import { type RunLoad, withLoad } from './load.ts'
import { longJournal, recordChunks } from './long-journal.ts'
import type { StreamsFigures } from './open-streams.ts'
import type { PacedRequestsFigures } from './paced-requests.ts'

const bar = 5
const authorization = `Bearer ${token}`
const health: RawRequest = { method: 'GET', path: '/v1/health', headers: { authorization } }
const events: RawRequest = {
  method: 'GET',
  path: `/v1/sandboxes/${longJournal}/events`,
  headers: { authorization, accept: 'text/event-stream' },
}

interface Sizes {
  readonly events: number
  readonly streams: number
  readonly everyMs: number
  /** Health requests of a block. */
  readonly count: number
  readonly blocks: number
}

interface Figures {
  readonly idle: PacedRequestsFigures[]
  readonly busy: PacedRequestsFigures[]
  readonly streams: StreamsFigures[]
}

/** The delay of cheap requests by readers that catch up. */
export const manyStreams = measurement<Sizes>({
  name: 'manyStreams',
  what: '300 event streams that read a journal of 50,000 events from its start: health requests meanwhile',
  against: 'the same daemon when it is idle',
  bars: [`≤ ${bar} ×`],
  needs: ['build'],
  sizes: {
    full: { events: 50_000, streams: 300, everyMs: 5, count: 800, blocks: 5 },
    tiny: { events: 1_000, streams: 5, everyMs: 2, count: 50, blocks: 1 },
  },
  run,
})

function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await recordChunks(folder, sizes.events)
    await using daemon = await startDaemon(folder)
    // Two processes: one that reads gigabytes would delay the requests that it measures.
    const figures = await withLoad(signal, (measure) =>
      withLoad(signal, (read) => inBlocks(measure, read, daemon.port, sizes)),
    )
    return [rowOf(sizes, figures)]
  })
}

/** Alternates, so that other load on the machine affects both alike. The first block warms up. */
async function inBlocks(measure: RunLoad, read: RunLoad, port: number, sizes: Sizes): Promise<Figures> {
  const { everyMs, count, blocks } = sizes
  const job = { port, request: health, everyMs, count, beside: health, besideCount: 0 }
  const figures: Figures = { idle: [], busy: [], streams: [] }
  for (let block = -1; block < blocks; block += 1) {
    const idle = await measure('pacedRequests', job)
    await read('openStreams', { port, request: events, count: sizes.streams })
    const busy = await measure('pacedRequests', job)
    const streams = await read('closeStreams', { port })
    if (block < 0) continue
    figures.idle.push(idle)
    figures.busy.push(busy)
    figures.streams.push(streams)
  }
  return figures
}

function rowOf({ events, streams }: Sizes, { idle, busy, streams: read }: Figures): Row {
  const [delayed, alone] = [medianOf(busy, 'p95Ms'), medianOf(idle, 'p95Ms')]
  const ratio = delayed / alone
  const most = Math.max(...busy.map(({ mostMs }) => mostMs))
  const bytes = median(read.map((one) => one.bytes))
  return {
    what: `health p95 beside ${streams} streams of ${events.toLocaleString('en')} events`,
    measured: `${delayed.toFixed(2)} ms, ${ratio.toFixed(2)} × (p50 ${medianOf(busy, 'p50Ms').toFixed(2)}, at most ${most.toFixed(1)} ms; ${mebibytes(bytes)} read)`,
    against: `${alone.toFixed(2)} ms idle (p50 ${medianOf(idle, 'p50Ms').toFixed(2)})`,
    bar: `≤ ${bar} ×`,
    holds: ratio <= bar,
  }
}

function medianOf(figures: readonly PacedRequestsFigures[], which: 'p50Ms' | 'p95Ms'): number {
  return median(figures.map((one) => one[which]))
}
