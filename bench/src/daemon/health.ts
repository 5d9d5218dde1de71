import { measurement } from '../measurement.ts'
import { median, type Row, rate } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { fixedResponseOf, startBare } from './bare.ts'
import type { RawRequest } from './connection.ts'
import { startDaemon, token } from './daemon.ts'
import { type RunLoad, withLoad } from './load.ts'
import type { RequestsFigures } from './requests.ts'
import { comparisonRow, sandboxAgentName, startSandboxAgent } from './sandbox-agent.ts'
import type { ServerProcess } from './server-process.ts'

const bar = { latency: 1.5, rate: 0.6 }
const connections = 8
const request: RawRequest = {
  method: 'GET',
  path: '/v1/health',
  headers: { authorization: `Bearer ${token}` },
}

interface Sizes {
  /** Requests in a block. */
  readonly count: number
  readonly blocks: number
  readonly warmUp: number
}

/** The cheapest request. */
export const health = measurement<Sizes>({
  name: 'health',
  what: 'a health request with a token over 8 connections: latency and rate',
  against: 'node:http alone with the same bytes; sandbox-agent',
  bars: [`≤ ${bar.latency} ×`, `≥ ${bar.rate} ×`],
  needs: ['build', 'peers'],
  sizes: {
    full: { count: 4_000, blocks: 15, warmUp: 3 },
    tiny: { count: 200, blocks: 2, warmUp: 1 },
  },
  run,
})

function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await using ours = await startDaemon(folder)
    const same = await fixedResponseOf(`http://127.0.0.1:${ours.port}/v1/health`, token)
    await using bare = await startBare(folder, same)
    const found = await startSandboxAgent(folder)
    await using peer = 'missing' in found ? undefined : found
    const figures = await withLoad(signal, (runLoad) =>
      inBlocks({ ours, bare, ...(peer && { peer }) }, sizes, runLoad),
    )
    return rowsOf(figures.ours!, figures.bare!, figures.peer, 'missing' in found ? found.missing : undefined)
  })
}

/** Alternates between the servers, so that other load on the machine affects all of them alike. */
async function inBlocks(
  all: Readonly<Record<string, ServerProcess>>,
  { count, blocks, warmUp }: Sizes,
  runLoad: RunLoad,
) {
  const figures: Record<string, RequestsFigures[]> = {}
  for (let block = -warmUp; block < blocks; block += 1) {
    const order = Object.entries(all)
    for (const [name, { port }] of block % 2 === 0 ? order : order.toReversed()) {
      const found = await runLoad('sendRequests', { port, request, connections, count })
      figures[name] ??= []
      if (block >= 0) figures[name].push(found)
    }
  }
  return figures
}

function rowsOf(
  ours: readonly RequestsFigures[],
  bare: readonly RequestsFigures[],
  peer: readonly RequestsFigures[] | undefined,
  missing: string | undefined,
): Row[] {
  const latency = p50(ours) / p50(bare)
  const share = perSecond(ours) / perSecond(bare)
  const what = `GET /v1/health with a token, ${connections} connections`
  return [
    {
      what: `${what}: p50`,
      measured: `${milliseconds(p50(ours))}, ${latency.toFixed(2)} ×`,
      against: `${milliseconds(p50(bare))} node:http alone, the same bytes`,
      bar: `≤ ${bar.latency} ×`,
      holds: latency <= bar.latency,
    },
    {
      what: 'the same: requests',
      measured: `${rate(perSecond(ours))}, ${share.toFixed(2)} ×`,
      against: `${rate(perSecond(bare))} node:http alone`,
      bar: `≥ ${bar.rate} ×`,
      holds: share >= bar.rate,
    },
    comparisonRow(
      'the same',
      peer === undefined
        ? missing!
        : `p50 ${milliseconds(p50(peer))}, ${rate(perSecond(peer))} ${sandboxAgentName} (no token)`,
    ),
  ]
}

function p50(figures: readonly RequestsFigures[]): number {
  return median(figures.map(({ p50Ms }) => p50Ms))
}

function perSecond(figures: readonly RequestsFigures[]): number {
  return median(figures.map((one) => one.perSecond))
}

function milliseconds(ms: number): string {
  return `${ms.toFixed(3)} ms`
}
