import { alternate } from '../processes/alternate.ts'
import { median, percentile, type Row } from '../report.ts'
import { bare, inHost } from './scene.ts'

/** A prompt and its answer, with the turn's start, both messages and its end on record. */
export async function roundTrip(): Promise<Row[]> {
  return inHost(async (sandbox) => {
    const session = await sandbox.openSession({ agent: 'trivial' })
    return bare(
      () => undefined,
      async (promptBare) => {
        const took = await alternate(
          { bare: () => promptBare('1'), ours: () => session.prompt('1') },
          { rounds: 300, warmUp: 30 },
        )
        return [
          {
            what: 'prompt round trip with a trivial agent, p50 (p99)',
            measured: `${median(took.ours).toFixed(2)} ms (${percentile(took.ours, 0.99).toFixed(2)})`,
            against: `bare SDK ${median(took.bare).toFixed(2)} ms`,
            bar: '≤ 2 ms',
            holds: median(took.ours) <= 2,
          },
        ]
      },
    )
  })
}
