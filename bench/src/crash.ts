import { crashTest } from '@vitrine/conformance/crash'
import type { Row } from './report.ts'

const times = 200

/** `kill -9` of a writer under load, and what its store holds afterwards. */
export async function crash(): Promise<Row[]> {
  const { kills, events, seenOutside, recoveries, violations, seed } = await crashTest({
    times,
    onProgress({ round, violations: found }) {
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
