import { measurement } from '../measurement.ts'
import { mebibytes, type Row } from '../report.ts'
import { settledRss } from '../settled-rss.ts'
import { withHost } from './fixture.ts'

const maxBytes = 100 * 1024 * 1024
const bar = '≤ 100 MiB, 1 process'

interface Sizes {
  readonly sessions: number
}

/** The host memory of many open sessions of the demo agent, which all run in one agent process. */
export const manySessions = measurement<Sizes>({
  name: 'manySessions',
  what: '200 open sessions of the demo agent: memory of the host, processes of the agent',
  bars: [bar],
  sizes: { full: { sessions: 200 }, tiny: { sessions: 3 } },
  run,
})

function run({ sessions }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return withHost(signal, async (sandbox) => {
    const env = { VITRINE_DEMO_PACE: '0' }
    const first = await sandbox.openSession({ agent: 'demo', env })
    await first.prompt('/say hello')
    const before = await settledRss()
    for (let count = 1; count < sessions; count += 1) {
      const session = await sandbox.openSession({ agent: 'demo', env })
      await session.prompt('/say hello')
    }
    const grown = (await settledRss()) - before
    const processes = (await sandbox.processes.list()).filter(({ state }) => state === 'running').length
    return [
      {
        what: `${sessions} open sessions of the demo agent, one turn each`,
        measured: `+${mebibytes(grown)} in the host, ${processes} agent process`,
        against: '',
        bar,
        holds: grown <= maxBytes && processes === 1,
      },
    ]
  })
}
