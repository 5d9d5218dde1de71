import { VitrineError } from '@vitrine/protocol'
import type { Isolation } from '@vitrine/sandbox'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { lastLines } from './explain-npm.ts'
import type { OnProgress } from './progress.ts'

/** An installation with nothing left open. */
export interface InstallRequest {
  readonly entry: AgentEntry
  readonly source: NpmSource
  readonly version: string
  readonly cache: string
  /** Where it is to be in the end. */
  readonly target: string
  readonly isolation: Isolation
  /** Beside the registry. */
  readonly egress: readonly string[]
  readonly verifyMs: number
  /** The first pause of npm before it asks the registry again; the next one is longer. */
  readonly retryMs: number
  readonly signal: AbortSignal
  readonly onProgress: OnProgress
}

/** The first one is the one whose version can be chosen. */
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

export function cancelled({ entry, version }: Pick<InstallRequest, 'entry' | 'version'>): VitrineError {
  return new VitrineError(
    'cancelled',
    `Installing ${entry.name} ${version} was called off; nothing was left behind.`,
    { details: { agent: entry.name, version } },
  )
}
