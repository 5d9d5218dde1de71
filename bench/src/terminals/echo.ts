import { once } from 'node:events'
import type { Process } from '@vitrine/protocol'
import { alternate } from '../processes/alternate.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { traced } from '../processes/traced.ts'
import { median, percentile, type Row } from '../report.ts'
import { rawTerminal } from './raw-terminal.ts'
import { until } from './until.ts'

const rounds = 500
const barMs = 1
/** The program answers, not the kernel. */
const command = 'stty raw -echo; printf ready; exec cat'

/** From a key that is typed until a viewer sees the program's answer. */
export async function echo(): Promise<Row[]> {
  const rows: Row[] = []
  for (const isolation of ['none', 'bubblewrap'] as const) {
    const took = await traced(() =>
      withSandbox({ isolation }, async (sandbox) => {
        const bare = rawTerminal(command)
        const heard = until((listener) => bare.screen.on('data', listener))
        await heard('ready')
        const process = await sandbox.spawn(command, { tty: { cols: 80, rows: 24 } })
        const seen = until((listener) => void show(process, listener))
        await seen('ready')
        const typed = (index: number) => String.fromCharCode(97 + (index % 26))
        let keys = 0
        let inputs: Promise<void> = Promise.resolve()
        const measured = await alternate(
          {
            raw: () => {
              keys += 1
              const answer = heard(typed(keys))
              bare.screen.write(typed(keys))
              return answer
            },
            ours: () => {
              keys += 1
              const answer = seen(typed(keys))
              inputs = process.input(typed(keys))
              return answer
            },
          },
          // The operation that typed it ends after the answer: it is not to be in the next one's way.
          { rounds, warmUp: 50, between: () => inputs },
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
      what: `key → program's answer seen by a viewer, isolation ${isolation}, ${rounds} times`,
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
