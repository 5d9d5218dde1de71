import type { Capabilities } from '@vitrine/protocol'
import { allEvents } from '../events.ts'
import type { SandboxUnderTest } from '../kit.ts'

const shortLivedFiles = 10
const maxRounds = 3

/**
 * Measures how changes are noticed, with files that exist for 0.2 s: a native watcher reports all of them, a polling one
 * only those that last. Several rounds, since a busy host may miss some; a polling one does not see all in any of them.
 */
export async function measureWatching(under: SandboxUnderTest): Promise<Capabilities['watching']> {
  try {
    let found: Capabilities['watching'] = 'none'
    for (let round = 1; round <= maxRounds && found !== 'native'; round += 1)
      found = await watchRound(under, round)
    return found
  } catch {
    // A sandbox without watching refuses the flush.
    return 'none'
  }
}

async function watchRound(
  { sandbox, journal }: SandboxUnderTest,
  round: number,
): Promise<Capabilities['watching']> {
  await sandbox.exec(
    `i=0; while [ $i -lt ${shortLivedFiles} ]; do i=$((i+1)); echo > short${round}-$i; sleep 0.2; rm short${round}-$i; done; echo > lasting${round}`,
  )
  await sandbox.files.flush()
  const created = (await allEvents(journal))
    .filter(({ type }) => type === 'file.created')
    .map(({ data }) => String(data.path))
  await sandbox.files.remove(`lasting${round}`)
  if (!created.includes(`lasting${round}`)) return 'none'
  const seen = created.filter((path) => path.startsWith(`short${round}-`))
  return seen.length === shortLivedFiles ? 'native' : 'poll'
}
