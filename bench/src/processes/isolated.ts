import { setTimeout as sleep } from 'node:timers/promises'
import { median, type Row } from '../report.ts'
import { alternate } from './alternate.ts'
import { bubblewrapArgs, raw } from './raw.ts'
import { withSandbox } from './sandbox.ts'
import { traced } from './traced.ts'

const rounds = 500
const barMs = 6

/** What isolation adds to a command, in a row and with a pause between commands. */
export async function isolated(): Promise<Row[]> {
  return traced((forget) =>
    withSandbox({ isolation: 'bubblewrap' }, async (sandbox) => {
      const runs = {
        raw: () => raw('true'),
        plain: () => raw('bwrap', [...bubblewrapArgs, 'true']),
        ours: () => sandbox.exec(['true']),
      }
      const quick = await alternate(runs, { rounds, warmUp: 30 })
      forget()
      const paused = await alternate(runs, { rounds: 60, warmUp: 5, between: () => sleep(30) })
      return [
        row(`exec(['true']) under bubblewrap, SQLite and span on, ${rounds} in a row`, quick),
        row('the same with 30 ms between commands, 60 times', paused),
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
