import type { Blobs } from './blobs/blobs.ts'
import type { OpenJournals } from './open-journals.ts'
import { repeat } from './repeat.ts'
import type { Trimming } from './retention/trimming.ts'
import type { StoreConnection } from './stores/contract.ts'

const ownershipCheckMs = 500
const readOnlyPollMs = 25
const maintenanceMs = 60_000

export interface BackgroundOptions {
  readonly connection: StoreConnection
  readonly blobs: Blobs
  readonly trimming: Trimming
  readonly journals: OpenJournals
  /** Ends everything. */
  readonly signal: AbortSignal
  readonly lastPosition: number
  isEnded(): boolean
  /** Another host owns the store now. */
  onTakenOver(): Promise<void>
  /** Another process has committed events. */
  onForeignCommit(): void
}

/** Starts the work of an open store that no call asks for. */
export function startBackground(options: BackgroundOptions): void {
  const { connection, signal } = options
  if (connection.readOnly) {
    void repeat(readOnlyPollMs, signal, foreignCommitPoll(options))
    return
  }
  void repeat(ownershipCheckMs, signal, () => checkOwnership(options))
  void repeat(maintenanceMs, signal, () => runMaintenance(options))
}

/** An idle host makes no commits that would fail, so it polls for a takeover. */
async function checkOwnership({ connection, isEnded, onTakenOver }: BackgroundOptions): Promise<void> {
  if (isEnded() || (await connection.owns())) return
  await onTakenOver()
}

async function runMaintenance(options: BackgroundOptions): Promise<void> {
  const { connection, blobs, trimming, journals, isEnded } = options
  if (isEnded()) return
  await blobs.sweep()
  // Includes journals that were not opened since the store was: their events age too.
  for (const id of await connection.journals()) {
    const head = await connection.head(id)
    if (head && (await trimming.isDue(head))) await trimming.trimToDefaults(await journals.state(id))
  }
}

/** A reader in another process polls for commits. */
function foreignCommitPoll({ connection, lastPosition, onForeignCommit }: BackgroundOptions) {
  let seen = lastPosition
  return async () => {
    const position = await connection.lastPosition()
    if (position === seen) return
    seen = position
    onForeignCommit()
  }
}
