import {
  type JournalReader,
  type Pruned,
  type PrunedSandbox,
  type PruneOptions,
  type SandboxInfo,
  toVitrineError,
} from '@vitrine/protocol'
import { fitsFilter } from '@vitrine/protocol/primitives'

/** The parts of a host that `prune` uses. */
export interface PrunedHost {
  infos(): readonly SandboxInfo[]
  info(id: string): SandboxInfo | undefined
  isStarting(id: string): boolean
  journal(id: string): Promise<JournalReader>
  /** The disk space of the sandbox's own folders. */
  ownBytes(id: string): Promise<number | undefined>
  destroy(id: string): Promise<void>
}

/** Destroys the sandboxes that fit the options, one after the other. One that fails does not stop the others. */
export async function prune(host: PrunedHost, options: PruneOptions): Promise<Pruned> {
  const sandboxes: PrunedSandbox[] = []
  for (const info of host.infos()) {
    if (!fits(info, options)) continue
    const pruned = await pruneOne(host, info, options)
    if (pruned !== undefined) sandboxes.push(pruned)
  }
  const freed = sandboxes.map(({ error, freedBytes = 0 }) => (error === undefined ? freedBytes : 0))
  return { sandboxes, freedBytes: freed.reduce((sum, bytes) => sum + bytes, 0) }
}

function fits(info: SandboxInfo, { provider, labels, running = false }: PruneOptions): boolean {
  const filter = { ...(provider !== undefined && { provider }), ...(labels && { labels }) }
  // One whose record is damaged cannot be destroyed.
  return info.error === undefined && fitsFilter(info, filter) && (running || info.state === 'stopped')
}

/** Its newest event is that of its stop, or later. */
async function isStoppedLongEnough(
  host: PrunedHost,
  { id, state, createdAt }: SandboxInfo,
  { stoppedMs }: PruneOptions,
): Promise<boolean> {
  if (state !== 'stopped') return true
  const journal = await host.journal(id)
  const [newest] = (await journal.read({ order: 'desc', limit: 1 })).events
  const since = newest !== undefined && 'time' in newest ? newest.time : createdAt
  return Date.now() - Date.parse(since) >= stoppedMs
}

/** Undefined for a sandbox that is not to be destroyed, also because it was started or destroyed meanwhile. */
async function pruneOne(
  host: PrunedHost,
  info: SandboxInfo,
  options: PruneOptions,
): Promise<PrunedSandbox | undefined> {
  const { id } = info
  try {
    if (!(await isStoppedLongEnough(host, info, options))) return undefined
    const freedBytes = await host.ownBytes(id)
    // Measuring takes seconds; nothing is awaited between this check and the destruction.
    if (!mayBeDestroyed(host, id, options)) return undefined
    if (options.dryRun !== true) await host.destroy(id)
    return { ...info, ...(freedBytes !== undefined && { freedBytes }) }
  } catch (error) {
    const { code, message } = toVitrineError(error)
    return { ...info, error: { code, message } }
  }
}

function mayBeDestroyed(host: PrunedHost, id: string, { running = false }: PruneOptions): boolean {
  const state = host.info(id)?.state
  if (state === undefined || state === 'destroyed') return false
  return running || (state !== 'running' && !host.isStarting(id))
}
