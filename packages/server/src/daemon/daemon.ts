import type { Host } from '@vitrine/host'
import type { Problem } from '@vitrine/protocol'
import type { Tokens } from '../guard/tokens.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { StreamSettings } from '../streams/stream.ts'
import type { DefaultSandbox } from './default-sandbox.ts'
import type { InFlightCalls } from './in-flight-calls.ts'
import type { LongReads } from './long-reads.ts'
import type { Previews } from './previews.ts'

/** The state that all handlers share. */
export interface Daemon {
  readonly host: Host
  readonly defaultSandbox: DefaultSandbox
  readonly streams: StreamSettings
  readonly metrics: Metrics
  readonly tokens: Tokens
  readonly calls: InFlightCalls
  readonly longReads: LongReads
  readonly previews: Previews
  readonly version: string
  /** An error as it may leave the daemon: without secrets. */
  readonly problemOf: (error: unknown) => Problem
  /** Aborted when the daemon shuts down: streams end with the reason `closing`. */
  readonly closing: AbortSignal
}
