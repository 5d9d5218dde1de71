import { measurement } from '../measurement.ts'
import { mebibytes, median, type Row, rate } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { startDaemon, token } from './daemon.ts'
import { type RunLoad, withLoad } from './load.ts'
import { growthDuring, memoryOf } from './memory.ts'
import type { ReadersFigures, ReadersJob } from './readers.ts'

const bar = { growthBytes: 64 * 1024 * 1024, share: 0.8 }
const batch = 500

interface Sizes {
  readonly readers: number
  readonly events: number
  readonly warmUpEvents: number
  /** The sequence of runs with and without stalled readers. */
  readonly runs: readonly ('stalled' | 'plain')[]
}

interface Run extends ReadersFigures {
  readonly stalled: number
  readonly growthBytes: number
  readonly peakBytes: number
}

/** The cost of readers that stop reading: memory of the daemon, and speed of a live reader. */
export const stalledReaders = measurement<Sizes>({
  name: 'stalledReaders',
  what: '100 readers that stop reading while 200,000 events pass: memory, and a live reader beside them',
  against: 'the same without them',
  bars: [`< +${mebibytes(bar.growthBytes)} since before`, `≥ ${bar.share} ×`, 'all of them, in order'],
  needs: ['build'],
  sizes: {
    full: {
      readers: 100,
      events: 200_000,
      warmUpEvents: 5_000,
      // Each kind runs three times, and both kinds run early and late.
      runs: ['plain', 'stalled', 'stalled', 'plain', 'plain', 'stalled'],
    },
    tiny: { readers: 5, events: 2_000, warmUpEvents: 500, runs: ['plain', 'stalled'] },
  },
  run,
})

async function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  const all = await withLoad(signal, async (runLoad) => {
    const done: Run[] = []
    for (const kind of sizes.runs)
      done.push(await runOnce(runLoad, sizes, kind === 'stalled' ? sizes.readers : 0))
    return done
  })
  return rowsOf(
    sizes,
    all.filter(({ stalled }) => stalled > 0),
    all.filter(({ stalled }) => stalled === 0),
  )
}

/** Runs once in a new daemon after a short warm-up. */
function runOnce(runLoad: RunLoad, { events, warmUpEvents }: Sizes, stalled: number): Promise<Run> {
  return inScratch(async (folder) => {
    await using daemon = await startDaemon(folder)
    const { pid, port } = daemon
    await runLoad('recordAndRead', jobOf(port, warmUpEvents))
    const after = { ...jobOf(port, events, await head(port)), stalled }
    const { growthBytes, result } = await growthDuring(pid, async () => {
      await runLoad('stall', after)
      return runLoad('recordAndRead', after)
    })
    return { ...result, stalled, growthBytes, peakBytes: memoryOf(pid).peakBytes }
  })
}

function jobOf(port: number, events: number, after?: string): ReadersJob {
  const authorization = `Bearer ${token}`
  const path = '/v1/events'
  return {
    port,
    listen: {
      method: 'GET',
      path: after === undefined ? path : `${path}?after=${encodeURIComponent(after)}`,
      headers: { authorization, accept: 'text/event-stream' },
    },
    record: { method: 'POST', path, headers: { authorization, 'content-type': 'application/json' } },
    stalled: 0,
    events,
    batch,
  }
}

/** The cursor at the end of the journal. */
async function head(port: number): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  let cursor = ''
  for (let end = false; !end; ) {
    const query = new URLSearchParams({ limit: '1000', ...(cursor !== '' && { after: cursor }) })
    const page = await (await fetch(`http://127.0.0.1:${port}/v1/events?${query}`, { headers })).json()
    ;({ cursor, end } = page as { cursor: string; end: boolean })
  }
  return cursor
}

function rowsOf({ readers, events }: Sizes, withThem: readonly Run[], without: readonly Run[]): Row[] {
  const [growth, plain] = [growthOf(withThem), growthOf(without)]
  const [speed, plainSpeed] = [speedOf(events, withThem), speedOf(events, without)]
  const share = speed / plainSpeed
  const whole = [...withThem, ...without].every(({ read, inOrder }) => read === events && inOrder)
  const { frameBytes } = withThem[0]!
  const many = `${readers} stalled readers, ${events.toLocaleString('en')} events of ${frameBytes.toFixed(0)} bytes as sent`
  return [
    {
      what: `${many}: memory`,
      measured: `+${mebibytes(growth)} since before, +${mebibytes(growth - plain)} by them`,
      against: `+${mebibytes(plain)} without them (peaks ${peaks(withThem)} beside ${peaks(without)} MiB)`,
      bar: `< +${mebibytes(bar.growthBytes)} since before`,
      holds: growth < bar.growthBytes,
    },
    {
      what: 'the same: a live reader beside them',
      measured: `${rate(speed)}, ${share.toFixed(2)} ×`,
      against: `${rate(plainSpeed)} without them`,
      bar: `≥ ${bar.share} ×`,
      holds: share >= bar.share,
    },
    {
      what: 'the same: what the live reader got',
      measured: whole ? 'all of them, in order' : 'not all of them in order',
      against: `${Math.min(...withThem.map(({ stillStalled }) => stillStalled))} stalled readers connected to the end`,
      bar: 'all of them, in order',
      holds: whole,
    },
  ]
}

function growthOf(some: readonly Run[]): number {
  return median(some.map(({ growthBytes }) => growthBytes))
}

function speedOf(events: number, some: readonly Run[]): number {
  return median(some.map(({ ms }) => (events / ms) * 1_000))
}

function peaks(some: readonly Run[]): string {
  return some.map(({ peakBytes }) => (peakBytes / 1024 / 1024).toFixed(0)).join(', ')
}
