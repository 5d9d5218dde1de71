import type { HostSandbox } from '@vitrine/host'
import { measurement } from '../measurement.ts'
import { alternate } from '../processes/alternate.ts'
import { median, type Row, rate } from '../report.ts'
import { withBareSdk, withHost } from './fixture.ts'

const bar = '0 lost, ≥ 0.5 ×'

interface Sizes {
  readonly updates: number
  readonly rounds: number
}

/** Updates from an agent to a live reader of the journal, compared with the bare SDK reading the same agent. */
export const burst = measurement<Sizes>({
  name: 'burst',
  what: '100,000 updates from an agent to a live reader of the journal',
  against: 'the bare SDK reading the same agent',
  bars: [bar],
  sizes: { full: { updates: 100_000, rounds: 5 }, tiny: { updates: 500, rounds: 1 } },
  run,
})

function run({ updates, rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return withHost(signal, async (sandbox) => {
    const session = await sandbox.openSession({ agent: 'trivial' })
    let received = 0
    return withBareSdk(
      signal,
      () => {
        received += 1
      },
      async (promptBare) => {
        const wrong: string[] = []
        const took = await alternate(
          {
            bare: async () => {
              received = 0
              await promptBare(String(updates))
              if (received !== updates) wrong.push(`bare: ${received}`)
            },
            ours: async () => {
              const reading = readTurn(sandbox)
              await session.prompt(String(updates))
              const { count, ordered } = await reading
              if (count !== updates || !ordered)
                wrong.push(`ours: ${count}${ordered ? '' : ', out of order'}`)
            },
          },
          { rounds, warmUp: 1, signal },
        )
        const ratio = median(took.bare) / median(took.ours)
        const lost = wrong.filter((one) => one.startsWith('ours')).length
        return [
          {
            what: `${updates.toLocaleString('en')} updates of 100 bytes, agent to a live reader, journaled`,
            measured: `${rate(updates / (median(took.ours) / 1_000))}, ${wrong.join('; ') || '0 lost, in order'}`,
            against: `${ratio.toFixed(2)} × bare SDK (${rate(updates / (median(took.bare) / 1_000))})`,
            bar,
            holds: lost === 0 && ratio >= 0.5,
          },
        ]
      },
    )
  })
}

/** Counts the updates of the next turn as they arrive. */
async function readTurn(sandbox: HostSandbox): Promise<{ count: number; ordered: boolean }> {
  let count = 0
  let last = 0
  let ordered = true
  const tail = sandbox.journal.tail({ after: 'now', types: ['agent.message', 'turn.finished'] })
  for await (const event of tail) {
    if (!('seq' in event)) return { count, ordered: false }
    ordered &&= event.seq > last
    last = event.seq
    if (event.type === 'turn.finished') break
    if (event.data.message.method === 'session/update') count += 1
  }
  return { count, ordered }
}
