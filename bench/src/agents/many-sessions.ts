import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mebibytes, type Row } from '../report.ts'
import { inHost } from './scene.ts'

const sessions = 200
const maxBytes = 100 * 1024 * 1024

/** Open sessions of the demo agent, all in one of its processes: what they cost in the host. */
export async function manySessions(): Promise<Row[]> {
  return inHost(async (sandbox) => {
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
        bar: '≤ 100 MiB, 1 process',
        holds: grown <= maxBytes && processes === 1,
      },
    ]
  })
}

/** After everything that can be forgotten was. */
async function settledRss(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let round = 0; round < 3; round += 1) {
    collect()
    await sleep(100)
  }
  return process.memoryUsage.rss()
}
