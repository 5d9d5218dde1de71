import { measurement } from '../measurement.ts'
import { alternate } from '../processes/alternate.ts'
import { median, percentile, type Row } from '../report.ts'
import { withBareSdk, withHost } from './fixture.ts'

const barMs = 2

interface Sizes {
  readonly rounds: number
  /** Prompts in a block, after five warm-up prompts. */
  readonly prompts: number
}

/** A prompt and its response, with the turn's start, both messages and its end recorded. */
export const roundTrip = measurement<Sizes>({
  name: 'roundTrip',
  what: 'a prompt and its response with a trivial agent',
  against: 'the bare SDK',
  bars: [`≤ ${barMs} ms`],
  sizes: { full: { rounds: 10, prompts: 50 }, tiny: { rounds: 1, prompts: 5 } },
  run,
})

function run({ rounds, prompts }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return withHost(signal, async (sandbox) => {
    const session = await sandbox.openSession({ agent: 'trivial' })
    return withBareSdk(
      signal,
      () => undefined,
      async (promptBare) => {
        const took = { bare: [] as number[], ours: [] as number[] }
        // In blocks: with single turns, each agent would be idle and descheduled when its turn comes.
        await alternate(
          {
            bare: () => block(took.bare, prompts, () => promptBare('1')),
            ours: () => block(took.ours, prompts, () => session.prompt('1')),
          },
          { rounds, warmUp: 0, signal },
        )
        return [
          {
            what: 'prompt round trip with a trivial agent, p50 (p99)',
            measured: `${median(took.ours).toFixed(2)} ms (${percentile(took.ours, 0.99).toFixed(2)})`,
            against: `bare SDK ${median(took.bare).toFixed(2)} ms`,
            bar: `≤ ${barMs} ms`,
            holds: median(took.ours) <= barMs,
          },
        ]
      },
    )
  })
}

async function block(took: number[], prompts: number, prompt: () => Promise<unknown>): Promise<void> {
  for (let count = -5; count < prompts; count += 1) {
    const began = performance.now()
    await prompt()
    if (count >= 0) took.push(performance.now() - began)
  }
}
