import { VitrineError } from '@vitrine/protocol'
import type { Isolation } from '@vitrine/sandbox'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { lastLines } from './explain-npm.ts'
import type { OnProgress } from './progress.ts'

/** A request to install an agent, with all defaults filled in. */
export interface InstallRequest {
  readonly entry: AgentEntry
  readonly source: NpmSource
  readonly version: string
  readonly cache: string
  /** The final folder of the installation. */
  readonly target: string
  readonly isolation: Isolation
  /** `host:port` destinations beyond those of the registry. */
  readonly egress: readonly string[]
  readonly verifyMs: number
  /** First pause before npm retries a request to the registry; later pauses are longer. */
  readonly retryMs: number
  readonly signal: AbortSignal
  readonly onProgress: OnProgress
}

/** The packages to install. `version` applies to the first one only; the others are pinned. */
export function packagesOf({ source, version }: InstallRequest): { name: string; version: string }[] {
  return source.packages.map(({ name, version: pinned }, index) => ({
    name,
    version: index === 0 ? version : pinned,
  }))
}

export function failed({ entry, version }: InstallRequest, why: string, output: string): VitrineError {
  const message = `Installing ${entry.name} ${version} failed: ${why}`
  return new VitrineError('agent_install_failed', message, {
    details: { agent: entry.name, version, output: lastLines(output) },
  })
}

export function cancelledError({ entry, version }: Pick<InstallRequest, 'entry' | 'version'>): VitrineError {
  return new VitrineError(
    'cancelled',
    `Installing ${entry.name} ${version} was cancelled; nothing was left behind.`,
    { details: { agent: entry.name, version } },
  )
}
