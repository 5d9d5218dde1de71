import { crashTest } from '@vitrine/conformance/crash'
import { measurement } from './measurement.ts'
import type { Row } from './report.ts'

interface Sizes {
  readonly times: number
}

/** Kills a writer under load with SIGKILL and checks its store. */
export const crash = measurement<Sizes>({
  name: 'crash',
  what: 'kill -9 of a writer at 200 random moments: what its store holds afterwards',
  bars: ['0 violations'],
  limitMs: { full: 30 * 60_000, tiny: 5 * 60_000 },
  sizes: { full: { times: 200 }, tiny: { times: 3 } },
  run,
})

async function run({ times }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const { kills, events, seenOutside, recoveries, violations, seed } = await crashTest({
    times,
    onProgress({ round, violations: found }) {
      signal.throwIfAborted()
      for (const violation of found) console.error(`round ${round}: ${violation}`)
      if (round % 20 === 0) console.error(`${round} of ${times}`)
    },
  })
  return [
    {
      what: `kill -9 of the writer at ${times} random moments (seed ${seed})`,
      measured: `${violations.length} violations: ${kills} kills, ${events} events checked, ${seenOutside} seen by readers outside, ${recoveries} recoveries`,
      against: '',
      bar: '0 violations',
      holds: violations.length === 0,
    },
  ]
}
