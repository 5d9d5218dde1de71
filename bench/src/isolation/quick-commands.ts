import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { measurement } from '../measurement.ts'
import { bubblewrapArgs, raw } from '../processes/raw.ts'
import { withSandbox } from '../processes/sandbox.ts'
import type { Row } from '../report.ts'

const pids = 64

interface Sizes {
  readonly commands: number
}

/** Commands that exit at once under a process limit: ended commands must not count towards it. */
export const quickCommands = measurement<Sizes>({
  name: 'quickCommands',
  what: `100 quick commands under bubblewrap with limits.pids ${pids}: how many fail`,
  against: 'plain bwrap in such a group',
  bars: ['0 failed'],
  sizes: { full: { commands: 100 }, tiny: { commands: 5 } },
  run,
})

async function run({ commands }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const plain = await runPlainBwrap(commands, signal)
  const ours = await withSandbox({ isolation: 'bubblewrap', limits: { pids } }, signal, async (sandbox) => {
    if (!sandbox.capabilities.limits.includes('pids')) return undefined
    let failed = 0
    for (let index = 0; index < commands; index += 1) {
      const outcome = await sandbox.exec(['true']).then(
        (result) => result.outcome,
        () => 'failed' as const,
      )
      if (outcome !== 'ok') failed += 1
    }
    return failed
  })
  return [
    {
      what: `${commands} quick commands with limits.pids ${pids}, under bubblewrap`,
      measured: ours === undefined ? 'limits.pids is not available here' : `${ours} failed`,
      against:
        plain === undefined
          ? 'a pids cgroup is not available here'
          : `${plain.failed} failed, plain bwrap in such a group (up to ${plain.most} counted: depends on how soon PID 1 reaps)`,
      bar: '0 failed',
      holds: ours === 0,
    },
  ]
}

/** Runs one bwrap per command; each joins the cgroup first. */
async function runPlainBwrap(
  commands: number,
  signal: AbortSignal,
): Promise<{ failed: number; most: number } | undefined> {
  const parent = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].find((folder) =>
    existsSync(join(folder, 'cgroup.procs')),
  )
  if (parent === undefined) return undefined
  const group = join(parent, `vitrine-bench-${process.pid}`)
  try {
    mkdirSync(group)
    writeFileSync(join(group, 'pids.max'), String(pids))
  } catch {
    return undefined
  }
  const script = `echo $$ > ${join(group, 'cgroup.procs')}; exec bwrap "$@"`
  let failed = 0
  let most = 0
  for (let index = 0; index < commands && !signal.aborted; index += 1) {
    if ((await raw('sh', ['-c', script, 'sh', ...bubblewrapArgs, 'true'])) !== 0) failed += 1
    most = Math.max(most, Number(readFileSync(join(group, 'pids.current'), 'utf8')))
  }
  await removeOnceEmpty(group)
  return { failed, most }
}

async function removeOnceEmpty(group: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      rmdirSync(group)
      return
    } catch {
      // Processes that have ended but are not reaped yet still count.
      await sleep(100)
    }
  }
}
