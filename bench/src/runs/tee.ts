import { setTimeout as sleep } from 'node:timers/promises'
import { type InProcessClient, inProcessSandboxClient } from '@vitrine/host'
import { openSandboxRun } from '@vitrine/runtime'
import { collectGarbage } from '../collect-garbage.ts'
import { measurement } from '../measurement.ts'
import { median, type Row, rate } from '../report.ts'

const bar = { time: 1.6, cpu: 1.05 }
const bars = { time: `≤ ${bar.time} ×`, cpu: `≤ ${bar.cpu} × processor` }

interface Sizes {
  /** Events of one burst, and how often it is repeated with and without the observer. */
  readonly burst: { readonly events: number; readonly rounds: number }
  /** Seconds of one part at `perSecond`, and the number of parts with and without the observer. */
  readonly paced: { readonly perSecond: number; readonly seconds: number; readonly rounds: number }
}

/** The cost of `onSandboxEvent` for the run that it observes. */
export const tee = measurement<Sizes>({
  name: 'tee',
  what: 'onSandboxEvent for 100,000 events of an in-process agent in a burst, and for 5,000 events/s over 60 s',
  against: 'the same run without it',
  bars: [bars.time, bars.cpu],
  sizes: {
    full: {
      burst: { events: 100_000, rounds: 5 },
      paced: { perSecond: 5_000, seconds: 2, rounds: 30 },
    },
    tiny: { burst: { events: 200, rounds: 1 }, paced: { perSecond: 500, seconds: 0.2, rounds: 1 } },
  },
  run,
})

async function run({ burst, paced }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return [await inBurst(burst, signal), await atRate(paced, signal)]
}

async function inBurst({ events, rounds }: Sizes['burst'], signal: AbortSignal): Promise<Row> {
  const { off, on } = await onAndOff(burstOf(events), { events, rounds, warmUp: 1, signal })
  const ratio = median(on.map(({ ms }) => ms)) / median(off.map(({ ms }) => ms))
  const perSecond = (costs: readonly DrainCost[]) =>
    rate(events / (median(costs.map(({ ms }) => ms)) / 1_000))
  return {
    what: `${events.toLocaleString('en')} events of a run in a burst, with onSandboxEvent: time`,
    measured: `${ratio.toFixed(2)} ×, ${perSecond(on)}`,
    against: `${perSecond(off)} without it; ${cpuRatio(on, off).toFixed(2)} × its processor time`,
    bar: bars.time,
    holds: ratio <= bar.time,
  }
}

async function atRate({ perSecond, seconds, rounds }: Sizes['paced'], signal: AbortSignal): Promise<Row> {
  const events = perSecond * seconds
  const { off, on } = await onAndOff(pacedAt(perSecond, events), { events, rounds, warmUp: 0, signal })
  const ratio = cpuRatio(on, off)
  const share = (costs: readonly DrainCost[]) =>
    `${((100 * sumOf(costs, 'cpuMs')) / sumOf(costs, 'ms')).toFixed(1)} %`
  return {
    what: `${perSecond.toLocaleString('en')} events/s of a run for ${seconds * rounds} s, with onSandboxEvent: processor`,
    measured: `${ratio.toFixed(3)} ×, ${share(on)} of a core`,
    against: `${share(off)} of a core without it`,
    bar: bars.cpu,
    holds: ratio <= bar.cpu,
  }
}

type OnPrompt = Parameters<typeof inProcessSandboxClient>[0]['onPrompt']

const token = { type: 'token', data: { text: 'x'.repeat(100) } }

function burstOf(events: number): OnPrompt {
  return async function* () {
    for (let sent = 0; sent < events; sent += 1) yield token
  }
}

function pacedAt(perSecond: number, events: number): OnPrompt {
  return async function* () {
    const began = performance.now()
    for (let sent = 0; sent < events; await sleep(10)) {
      const due = Math.min(events, (perSecond * (performance.now() - began)) / 1_000)
      for (; sent < due; sent += 1) yield token
    }
  }
}

interface DrainCost {
  readonly ms: number
  readonly cpuMs: number
}

interface Rounds {
  /** The tokens of one run. */
  readonly events: number
  readonly rounds: number
  readonly warmUp: number
  readonly signal: AbortSignal
}

/** Alternates runs without and with the observer; every second round begins with the observer. */
async function onAndOff(
  onPrompt: OnPrompt,
  { events, rounds, warmUp, signal }: Rounds,
): Promise<Record<'off' | 'on', DrainCost[]>> {
  const client = inProcessSandboxClient({ onPrompt })
  const costs = { off: [] as DrainCost[], on: [] as DrainCost[] }
  for (let round = -warmUp; round < rounds; round += 1)
    for (const observer of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const cost = await drain(client, observer, events, signal)
      if (round >= 0) costs[observer].push(cost)
    }
  return costs
}

async function drain(
  client: InProcessClient,
  observer: 'off' | 'on',
  events: number,
  signal: AbortSignal,
): Promise<DrainCost> {
  let seen = 0
  const agentRun = { name: 'bench', profile: { agent: 'in-process' }, taskToPrompt: (task: string) => task }
  await using run = await openSandboxRun(
    client,
    {
      agentRun,
      signal,
      ...(observer === 'on' && {
        onSandboxEvent({ type }) {
          if (type === 'token') seen += 1
        },
      }),
    },
    { kind: 'events', fromEvents: (all) => all.length },
  )
  await collectGarbage()
  const [cpu, began] = [process.cpuUsage(), performance.now()]
  await run.start('go')
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  if (observer === 'on' && seen !== events)
    throw new Error(`Expected ${events} events at the observer, got ${seen}.`)
  return { ms, cpuMs: (user + system) / 1_000 }
}

function cpuRatio(on: readonly DrainCost[], off: readonly DrainCost[]): number {
  return sumOf(on, 'cpuMs') / sumOf(off, 'cpuMs')
}

function sumOf(costs: readonly DrainCost[], name: keyof DrainCost): number {
  return costs.reduce((sum, cost) => sum + cost[name], 0)
}
