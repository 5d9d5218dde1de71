import { once } from 'node:events'
import type { Process } from '@vitrine/protocol'
import { measurement } from '../measurement.ts'
import { alternate } from '../processes/alternate.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { traced } from '../processes/traced.ts'
import { median, percentile, type Row } from '../report.ts'
import { rawTerminal } from './raw-terminal.ts'
import { until } from './until.ts'

const barMs = 1
/** Echo is off: the program echoes the key, not the kernel. */
const command = 'stty raw -echo; printf ready; exec cat'

interface Sizes {
  readonly rounds: number
  readonly warmUp: number
}

/** The time from a typed key until a viewer sees the program's echo. */
export const echo = measurement<Sizes>({
  name: 'echo',
  what: "a key that is typed until a viewer sees the program's echo",
  against: 'a raw terminal',
  bars: [`≤ ${barMs} ms`],
  sizes: { full: { rounds: 500, warmUp: 50 }, tiny: { rounds: 10, warmUp: 1 } },
  run,
})

async function run({ rounds, warmUp }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = []
  for (const isolation of ['none', 'bubblewrap'] as const) {
    const took = await traced(() =>
      withSandbox({ isolation }, signal, async (sandbox) => {
        const bare = rawTerminal(command)
        const bareShows = until((listener) => bare.screen.on('data', listener))
        await bareShows('ready')
        const process = await sandbox.spawn(command, { tty: { cols: 80, rows: 24 } })
        const viewerShows = until((listener) => void show(process, listener))
        await viewerShows('ready')
        const typed = (index: number) => String.fromCharCode(97 + (index % 26))
        let keys = 0
        let inputs: Promise<void> = Promise.resolve()
        const measured = await alternate(
          {
            raw: () => {
              keys += 1
              const answer = bareShows(typed(keys))
              bare.screen.write(typed(keys))
              return answer
            },
            ours: () => {
              keys += 1
              const answer = viewerShows(typed(keys))
              inputs = process.input(typed(keys))
              return answer
            },
          },
          // The input operation ends after the echo; wait for it, so that it does not slow the next round.
          { rounds, warmUp, between: () => inputs, signal },
        )
        await process.kill()
        const gone = once(bare.child, 'exit')
        bare.screen.destroy()
        await gone
        return measured
      }),
    )
    const [mine, bare] = [median(took.ours), median(took.raw)]
    rows.push({
      what: `key → program's echo seen by a viewer, isolation ${isolation}, ${rounds} times`,
      measured: `p50 ${mine.toFixed(3)} ms, p99 ${percentile(took.ours, 0.99).toFixed(2)} ms`,
      against: `${bare.toFixed(3)} ms raw terminal (no journal, no operation)`,
      bar: `≤ ${barMs} ms`,
      holds: mine <= barMs,
    })
  }
  return rows
}

async function show(process: Process, listener: (bytes: Uint8Array) => void): Promise<void> {
  for await (const { data } of process.view()) listener(data)
}
