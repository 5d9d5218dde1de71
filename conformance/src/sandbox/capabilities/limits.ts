import type { Capabilities } from '@vitrine/protocol'
import type { MakeSandbox, SandboxTestOptions, TestedSandbox } from '../kit.ts'

type Limit = Capabilities['limits'][number]

const measures: Readonly<
  Record<
    Limit,
    { readonly limits: SandboxTestOptions['limits']; holds(sandbox: TestedSandbox): Promise<boolean> }
  >
> = {
  memory: {
    limits: { memoryBytes: 64 * 1024 * 1024 },
    // `tail` buffers the unterminated line in memory; the limit holds only about a fifth of it.
    async holds(sandbox) {
      const { stdout } = await sandbox.exec('head -c 300000000 /dev/zero | tail -n 1 | wc -c')
      return Number(stdout) < 300_000_000
    },
  },
  cpu: {
    limits: { cpus: 0.1 },
    async holds(sandbox) {
      const { stdout } = await sandbox.exec(
        `s=$(date +%s%N); i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; e=$(date +%s%N); echo $(( (e - s) / 1000000 )); times`,
      )
      const [elapsed = '0', own = ''] = stdout.split('\n')
      const [, minutes = '0', seconds = '0'] = /(\d+)m([\d.]+)s/.exec(own) ?? []
      const used = (Number(minutes) * 60 + Number(seconds)) * 1_000
      return used > 0 && used / Number(elapsed) < 0.35
    },
  },
  pids: {
    limits: { pids: 20 },
    async holds(sandbox) {
      const { stdout } = await sandbox.exec(
        'i=0; while [ $i -lt 60 ]; do sleep 5 > /dev/null 2>&1 & i=$((i+1)); echo $i; done',
      )
      return stdout.trim().split('\n').length < 60
    },
  },
  tmp: {
    limits: { tmpBytes: 8 * 1024 * 1024 },
    async holds(sandbox) {
      const { exitCode } = await sandbox.exec('head -c 16777216 /dev/zero > /tmp/large')
      return exitCode !== 0
    },
  },
  'disk-exact': {
    limits: { diskBytes: 32 * 1024 * 1024 },
    async holds(sandbox) {
      const { stdout } = await sandbox.exec('head -c 64000000 /dev/zero > large; wc -c < large; rm large')
      return Number(stdout) < 32 * 1024 * 1024
    },
  },
  'disk-accounted': {
    limits: { diskBytes: 16 * 1024 * 1024 },
    // It is ended while it waits, after it wrote too much.
    async holds(sandbox) {
      const { limit } = await sandbox.exec('head -c 32000000 /dev/zero > large; sleep 60')
      return limit?.limit === 'diskBytes'
    },
  },
}

/** Returns the claimed limits that are enforced when they are set. */
export async function measureLimits(
  make: MakeSandbox,
  claimed: Capabilities['limits'],
): Promise<Capabilities['limits']> {
  const measured = await Promise.all(
    claimed.map(async (limit) => {
      const { limits, holds } = measures[limit]
      const under = await make({ limits: { ...limits } })
      try {
        return { limit, isEnforced: await holds(under.sandbox) }
      } finally {
        await under.close()
      }
    }),
  )
  return measured.flatMap(({ limit, isEnforced }) => (isEnforced ? [limit] : []))
}
