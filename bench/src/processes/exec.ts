import { setTimeout as sleep } from 'node:timers/promises'
import { measurement } from '../measurement.ts'
import { missingRow, openPeer, peerNames } from '../peers/peers.ts'
import { median, percentile, type Row } from '../report.ts'
import { alternate } from './alternate.ts'
import { raw } from './raw.ts'
import { withSandbox } from './sandbox.ts'
import { traced } from './traced.ts'

const bar = 1.25
/** The minimum pause between two commands of an agent; the kernel's fast paths are cold by then. */
const pauseMs = 30

interface Sizes {
  readonly rounds: number
  readonly warmUp: number
  readonly pausedRounds: number
}

/** The overhead of `exec` over the process itself. */
export const exec = measurement<Sizes>({
  name: 'exec',
  what: "exec(['true']) without isolation, SQLite and span on: in a row, and with pauses",
  against: 'raw spawn; TanStack local-process; OpenAI unix-local',
  bars: [`≤ ${bar} ×`],
  needs: ['peers'],
  sizes: {
    full: { rounds: 500, warmUp: 50, pausedRounds: 60 },
    tiny: { rounds: 6, warmUp: 1, pausedRounds: 3 },
  },
  run,
})

function run({ rounds, warmUp, pausedRounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return traced((forget) =>
    withSandbox({ isolation: 'none' }, signal, async (sandbox, folder) => {
      const ours = () => sandbox.exec(['true'])
      const quick = await alternate({ raw: () => raw('true'), ours }, { rounds, warmUp, signal })
      forget()
      const paused = await alternate(
        { raw: () => raw('true'), ours },
        { rounds: pausedRounds, warmUp: 5, between: () => sleep(pauseMs), signal },
      )
      const rows = [
        ratioRow(`exec(['true']), isolation none, SQLite and span on, ${rounds} in a row`, quick),
        ratioRow(`the same with ${pauseMs} ms between commands, ${pausedRounds} times`, paused),
      ]
      for (const name of peerNames) {
        forget()
        const what = `exec('true') through sh, beside ${name}`
        const peer = await openPeer(name, folder)
        if ('missing' in peer) {
          rows.push(missingRow(what, peer.missing))
          continue
        }
        const took = await alternate(
          { peer: () => peer.exec('true'), ours: () => sandbox.exec('true') },
          { rounds: rounds / 2, warmUp, signal },
        )
        await peer.close()
        const [mine, theirs] = [median(took.ours), median(took.peer)]
        rows.push({
          what,
          measured: `p50 ${mine.toFixed(2)} ms, ${(mine / theirs).toFixed(2)} ×`,
          against: `${theirs.toFixed(2)} ms ${peer.name} (${peer.without})`,
          bar: '',
          holds: null,
        })
      }
      return rows
    }),
  )
}

function ratioRow(what: string, took: { readonly raw: number[]; readonly ours: number[] }): Row {
  const [mine, bare] = [median(took.ours), median(took.raw)]
  const ratio = mine / bare
  return {
    what,
    measured: `p50 ${mine.toFixed(2)} ms (p99 ${percentile(took.ours, 0.99).toFixed(1)}), ${ratio.toFixed(2)} ×`,
    against: `${bare.toFixed(2)} ms raw spawn`,
    bar: `≤ ${bar} ×`,
    holds: ratio <= bar,
  }
}
