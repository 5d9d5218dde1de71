import { setTimeout as sleep } from 'node:timers/promises'
import { measurement } from '../measurement.ts'
import { median, type Row } from '../report.ts'
import { alternate } from './alternate.ts'
import { bubblewrapArgs, raw } from './raw.ts'
import { withSandbox } from './sandbox.ts'
import { traced } from './traced.ts'

const barMs = 6

interface Sizes {
  readonly rounds: number
  readonly warmUp: number
  readonly pausedRounds: number
}

/** The time that isolation adds to a command, in a row and with a pause between commands. */
export const isolated = measurement<Sizes>({
  name: 'isolated',
  what: "exec(['true']) under bubblewrap, SQLite and span on: in a row, and with pauses",
  against: 'raw spawn; plain bwrap per command',
  bars: [`≤ +${barMs} ms`],
  sizes: {
    full: { rounds: 500, warmUp: 30, pausedRounds: 60 },
    tiny: { rounds: 6, warmUp: 1, pausedRounds: 3 },
  },
  run,
})

function run({ rounds, warmUp, pausedRounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return traced((forget) =>
    withSandbox({ isolation: 'bubblewrap' }, signal, async (sandbox) => {
      const runs = {
        raw: () => raw('true'),
        plain: () => raw('bwrap', [...bubblewrapArgs, 'true']),
        ours: () => sandbox.exec(['true']),
      }
      const quick = await alternate(runs, { rounds, warmUp, signal })
      forget()
      const paused = await alternate(runs, {
        rounds: pausedRounds,
        warmUp,
        between: () => sleep(30),
        signal,
      })
      return [
        row(`exec(['true']) under bubblewrap, SQLite and span on, ${rounds} in a row`, quick),
        row(`the same with 30 ms between commands, ${pausedRounds} times`, paused),
      ]
    }),
  )
}

function row(what: string, took: { raw: number[]; plain: number[]; ours: number[] }): Row {
  const [mine, bare, plain] = [median(took.ours), median(took.raw), median(took.plain)]
  const added = mine - bare
  return {
    what,
    measured: `p50 ${mine.toFixed(2)} ms, ${added < 0 ? '−' : '+'}${Math.abs(added).toFixed(2)} ms`,
    against: `${bare.toFixed(2)} ms raw spawn; +${(plain - bare).toFixed(2)} ms plain bwrap per command (no journal, no seccomp)`,
    bar: `≤ +${barMs} ms`,
    holds: added <= barMs,
  }
}
