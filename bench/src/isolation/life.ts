import { memoryStore, openStore } from '@vitrine/journal'
import { createLocalSandbox, type LocalOptions, local } from '@vitrine/sandbox'
import { measurement } from '../measurement.ts'
import { bubblewrapArgs, raw } from '../processes/raw.ts'
import { median, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { measureNewDescendants } from './memory.ts'

const machines: readonly { readonly name: string; readonly options: LocalOptions }[] = [
  { name: 'none', options: { isolation: 'none' } },
  { name: 'bubblewrap', options: { isolation: 'bubblewrap' } },
  { name: 'bubblewrap, writable system', options: { isolation: 'bubblewrap', rootfs: 'writable' } },
]

interface Sizes {
  readonly rounds: number
}

/** The time to start and shut down a sandbox, and its memory while nothing runs. */
export const life = measurement<Sizes>({
  name: 'life',
  what: 'start and shutdown of a sandbox, and the memory of its idle processes, for each isolation',
  against: 'plain bwrap running true',
  sizes: { full: { rounds: 30 }, tiny: { rounds: 1 } },
  run,
})

async function run({ rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const bare: number[] = []
  const seen = machines.map(({ name, options }) => ({
    name,
    options,
    start: [] as number[],
    stop: [] as number[],
    kib: [] as number[],
    degradation: '',
  }))
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    await raw('bwrap', [...bubblewrapArgs, 'true'])
    bare.push(performance.now() - began)
    for (const machine of seen) {
      const { startMs, stopMs, kib, degradation } = await lifeOf(machine.options, signal)
      machine.start.push(startMs)
      machine.stop.push(stopMs)
      machine.kib.push(kib)
      machine.degradation = degradation
    }
  }
  return seen.map(({ name, start, stop, kib, degradation }) => ({
    what: `a sandbox, ${name}: start, shutdown, memory of its idle processes (p50 of ${rounds})`,
    measured: `${median(start).toFixed(1)} ms, ${median(stop).toFixed(1)} ms, ${(median(kib) / 1024).toFixed(1)} MiB${degradation}`,
    against: `${median(bare).toFixed(1)} ms plain bwrap running true (start and end)`,
    bar: '',
    holds: null,
  }))
}

interface Life {
  readonly startMs: number
  readonly stopMs: number
  readonly kib: number
  /** A note if the sandbox could not get the requested isolation. */
  readonly degradation: string
}

async function lifeOf(options: LocalOptions, signal: AbortSignal): Promise<Life> {
  return inScratch(async (data) => {
    await using store = await openStore(memoryStore())
    const memory = measureNewDescendants()
    let began = performance.now()
    const sandbox = await createLocalSandbox({ store, provider: local({ data, ...options }), signal })
    const startMs = performance.now() - began
    const kib = memory()
    const { counts } = await sandbox.journal.summary({ types: ['sandbox.degraded'] })
    const degraded = counts['sandbox.degraded'] ?? 0
    began = performance.now()
    await sandbox.lifecycle.shutdown()
    const stopMs = performance.now() - began
    await sandbox.close()
    return { startMs, stopMs, kib, degradation: degraded === 0 ? '' : ` (${degraded} degraded)` }
  })
}
