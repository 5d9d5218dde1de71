import type { Capabilities } from '@vitrine/protocol'
import { allEvents } from '../events.ts'
import type { SandboxUnderTest } from '../kit.ts'

const shortLived = 10

/** Measures with files that exist for 0.2 s: a native watcher reports all of them, a polling one only those that last. */
export async function measureWatching({
  sandbox,
  journal,
}: SandboxUnderTest): Promise<Capabilities['watching']> {
  try {
    await sandbox.exec(
      `i=0; while [ $i -lt ${shortLived} ]; do i=$((i+1)); echo > moment$i; sleep 0.2; rm moment$i; done; echo > lasting`,
    )
    await sandbox.files.flush()
    const created = (await allEvents(journal))
      .filter(({ type }) => type === 'file.created')
      .map(({ data }) => String(data.path))
    await sandbox.files.remove('lasting')
    if (!created.includes('lasting')) return 'none'
    return created.filter((path) => path.startsWith('moment')).length === shortLived ? 'native' : 'poll'
  } catch {
    return 'none'
  }
}
