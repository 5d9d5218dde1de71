import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { measurement } from '../measurement.ts'
import { alternate } from '../processes/alternate.ts'
import { median, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { bareProgram } from './bare.ts'
import { openConnection, type RawRequest, requestHead } from './connection.ts'
import { serveCommand, startDaemon, token } from './daemon.ts'
import { withLoad } from './load.ts'
import { ResponseReader } from './response-reader.ts'
import { comparisonRow, missing, sandboxAgentCommand, sandboxAgentName } from './sandbox-agent.ts'
import { freePort, stopChild } from './server-process.ts'

const barMs = 150
const batch = 1_000
const retryMs = 1
const authorization = `Bearer ${token}`
const page: RawRequest = { method: 'GET', path: '/v1/events', headers: { authorization } }
const peerHealth: RawRequest = { method: 'GET', path: '/v1/health' }

interface Sizes {
  /** Events in the journal before the first start. */
  readonly events: number
  readonly rounds: number
}

/** The time from the start of the daemon to the first page of a recorded journal. */
export const coldStart = measurement<Sizes>({
  name: 'coldStart',
  what: 'start of the bundled daemon to the first page of a journal of 100,000 events',
  against: 'node -e 0; node:http alone; sandbox-agent',
  bars: [`p50 ≤ ${barMs} ms`],
  needs: ['build', 'peers'],
  sizes: { full: { events: 100_000, rounds: 15 }, tiny: { events: 2_000, rounds: 2 } },
  run,
})

function run({ events, rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await record(folder, events, signal)
    const port = await freePort()
    const peer = await sandboxAgentCommand(join(folder, 'peer'), port).catch(missing)
    const ours = serveCommand(folder, port)
    const bare = bareProgram(port, 'ok')
    const runs = {
      node: runNode,
      ours: () => startToResponse(ours, port, page, process.env),
      bare: () => startToResponse(bare, port, { method: 'GET', path: '/' }, process.env),
      ...('missing' in peer ? {} : { peer: () => startToResponse(peer.command, port, peerHealth, peer.env) }),
    }
    const took = await inTurns(runs, rounds, signal)
    return rowsOf(events, took, 'missing' in peer ? peer.missing : undefined)
  })
}

/** Records events through a daemon that is shut down properly. */
async function record(folder: string, events: number, signal: AbortSignal): Promise<void> {
  await using daemon = await startDaemon(folder)
  const { port } = daemon
  const path = '/v1/events'
  await withLoad(signal, (runLoad) =>
    runLoad('recordAndRead', {
      port,
      listen: { method: 'GET', path, headers: { authorization, accept: 'text/event-stream' } },
      record: { method: 'POST', path, headers: { authorization, 'content-type': 'application/json' } },
      stalled: 0,
      events,
      batch,
    }),
  )
}

/** Collects the milliseconds that the runs return, which exclude the shutdown. Drops the warm-up round. */
async function inTurns(
  runs: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
  signal: AbortSignal,
) {
  const took: Record<string, number[]> = {}
  const timed = Object.entries(runs).map(([name, run]) => {
    const all: number[] = []
    took[name] = all
    return [name, async () => all.push(await run())] as const
  })
  await alternate(Object.fromEntries(timed), { rounds, warmUp: 1, signal })
  for (const all of Object.values(took)) all.shift()
  return took
}

async function startToResponse(
  [program = '', ...args]: readonly string[],
  port: number,
  request: RawRequest,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const began = performance.now()
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new AbortController()
  child.once('exit', () => ended.abort(new Error(`${program} exited before it responded.`)))
  try {
    await firstResponse(port, request, ended.signal)
    return performance.now() - began
  } finally {
    await stopChild(child)
  }
}

async function firstResponse(port: number, request: RawRequest, signal: AbortSignal): Promise<void> {
  const reader = new ResponseReader()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  promise.catch(() => undefined)
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  const open = () =>
    openConnection(port, (bytes) => {
      if (reader.feed(bytes)) resolve()
    }).catch(() => undefined)
  let socket = await open()
  for (; socket === undefined; socket = await open()) await sleep(retryMs, undefined, { signal })
  socket.write(requestHead(request))
  await promise
  socket.destroy()
  if (reader.status !== 200) throw new Error(`Expected 200, got ${reader.status}.`)
}

async function runNode(): Promise<number> {
  const began = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - began
}

function rowsOf(events: number, took: Readonly<Record<string, number[]>>, why: string | undefined): Row[] {
  const { ours = [], bare = [], node = [], peer } = took
  const mine = median(ours)
  const beside = (numbers: readonly number[], who: string) =>
    comparisonRow(
      'the same',
      `${median(numbers).toFixed(0)} ms (ours is ${(mine / median(numbers)).toFixed(1)} ×) ${who}`,
    )
  return [
    {
      what: `start to the first page of a journal of ${events.toLocaleString('en')} events`,
      measured: `${mine.toFixed(0)} ms (${Math.min(...ours).toFixed(0)} to ${Math.max(...ours).toFixed(0)})`,
      against: '',
      bar: `p50 ≤ ${barMs} ms`,
      holds: mine <= barMs,
    },
    beside(node, 'node -e 0 alone'),
    beside(bare, 'node:http alone, to its first response'),
    peer === undefined
      ? comparisonRow('the same', why ?? '')
      : beside(peer, `${sandboxAgentName}, to its first health response`),
  ]
}
