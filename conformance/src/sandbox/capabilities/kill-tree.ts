import { setTimeout as sleep } from 'node:timers/promises'
import type { Capabilities } from '@vitrine/protocol'
import type { SandboxUnderTest } from '../kit.ts'
import { countMarked, newMark, waitForMarked } from '../marks.ts'

/** Measures with processes that hide: another session, no parent, no environment, no open files. */
export async function measureKillTree(under: SandboxUnderTest): Promise<Capabilities['killTree']> {
  const mark = newMark()
  const hide = `env -i /bin/sh -c '/usr/bin/setsid /bin/sh -c "/bin/sleep ${mark} & /usr/bin/setsid /bin/sleep ${mark} &" </dev/null >/dev/null 2>&1 &'`
  const process = await under.sandbox.spawn(`${hide}; echo hidden; sleep ${mark}`)
  await waitForMarked(under, `/bin/sleep ${mark}`, 2)
  await sleep(100)
  await process.kill()
  for (const until = performance.now() + 3_000; performance.now() < until; await sleep(25))
    if ((await countMarked(under, mark)) === 0) return 'complete'
  await under.sandbox.exec(`pkill -9 -f '/bin/sleep ${mark}'`)
  return 'best-effort'
}
