import { measurement } from '../measurement.ts'
import { median, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import type { RawRequest } from './connection.ts'
import { startDaemon, token } from './daemon.ts'
import { type RunLoad, withLoad } from './load.ts'
import { longJournal, longSession, recordChunks } from './long-journal.ts'
import type { PacedRequestsFigures } from './paced-requests.ts'

const bar = 5

const headers = { authorization: `Bearer ${token}` }
const health: RawRequest = { method: 'GET', path: '/v1/health', headers }
const transcript: RawRequest = {
  method: 'GET',
  path: `/v1/sandboxes/${longJournal}/sessions/${longSession}/transcript`,
  headers,
}

interface Sizes {
  readonly chunks: number
  readonly transcripts: number
  readonly everyMs: number
  /** Health requests of a run without transcripts. */
  readonly count: number
  readonly blocks: number
}

/** The delay of cheap requests by expensive ones. */
export const longReads = measurement<Sizes>({
  name: 'longReads',
  what: '20 transcripts of a session of 50,000 chunks at once: health requests meanwhile',
  against: 'the same daemon when it is idle',
  bars: [`≤ ${bar} ×`],
  needs: ['build'],
  sizes: {
    full: { chunks: 50_000, transcripts: 20, everyMs: 5, count: 1_000, blocks: 5 },
    tiny: { chunks: 1_000, transcripts: 3, everyMs: 2, count: 50, blocks: 1 },
  },
  run,
})

function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await recordChunks(folder, sizes.chunks)
    await using daemon = await startDaemon(folder)
    const { idle, busy } = await withLoad(signal, (runLoad) => inBlocks(runLoad, daemon.port, sizes))
    return [rowOf(sizes, idle, busy)]
  })
}

/** Alternates, so that other load on the machine affects both alike. The first block warms up. */
async function inBlocks(runLoad: RunLoad, port: number, sizes: Sizes) {
  const { transcripts, everyMs, count, blocks } = sizes
  const job = { port, request: health, everyMs, beside: transcript }
  const [idle, busy]: [PacedRequestsFigures[], PacedRequestsFigures[]] = [[], []]
  for (let block = -1; block < blocks; block += 1) {
    const without = await runLoad('pacedRequests', { ...job, count, besideCount: 0 })
    const beside = await runLoad('pacedRequests', { ...job, count: 1, besideCount: transcripts })
    if (block < 0) continue
    idle.push(without)
    busy.push(beside)
  }
  return { idle, busy }
}

function rowOf(
  { chunks, transcripts }: Sizes,
  idle: readonly PacedRequestsFigures[],
  busy: readonly PacedRequestsFigures[],
): Row {
  const ratio = p95(busy) / p95(idle)
  const most = Math.max(...busy.map(({ mostMs }) => mostMs))
  const seconds = median(busy.map(({ besideMs }) => besideMs)) / 1_000
  return {
    what: `health p95 beside ${transcripts} transcripts of ${chunks.toLocaleString('en')} chunks`,
    measured: `${p95(busy).toFixed(2)} ms, ${ratio.toFixed(2)} × (at most ${most.toFixed(1)} ms; transcripts ${seconds.toFixed(1)} s)`,
    against: `${p95(idle).toFixed(2)} ms idle`,
    bar: `≤ ${bar} ×`,
    holds: ratio <= bar,
  }
}

function p95(figures: readonly PacedRequestsFigures[]): number {
  return median(figures.map(({ p95Ms }) => p95Ms))
}
