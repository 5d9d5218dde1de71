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
        const took = { bare: [] as number[], ours: [] as number[] }
        // In blocks: whoever comes after the other finds its agent asleep.
        await alternate(
          {
            bare: () => block(took.bare, () => promptBare('1')),
            ours: () => block(took.ours, () => session.prompt('1')),
          },
          { rounds: 10, warmUp: 0 },
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

async function block(took: number[], prompt: () => Promise<unknown>): Promise<void> {
  for (let count = -5; count < 50; count += 1) {
    const began = performance.now()
    await prompt()
    if (count >= 0) took.push(performance.now() - began)
  }
}
