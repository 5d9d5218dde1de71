import { parseAs, sessionOptions } from '@vitrine/protocol/options'

/** Limits for the resources that serving tools may use on the host. */
export interface ToolLimits {
  /** Bytes of one request body; default 8 MiB. */
  readonly bodyBytes?: number
  /** Bytes of all request bodies in memory; default 64 MiB. */
  readonly heldBytes?: number
  /** Bytes of one result; default 4 MiB. A longer result is cut and a note is added. */
  readonly resultBytes?: number
  /** Time limit of one call; default 5 minutes. */
  readonly callMs?: number
  /** Concurrent calls; default 32. */
  readonly calls?: number
  /** Calls that may wait for a free slot; default 1,024. */
  readonly waiting?: number
  /** Messages in one request; default 128. */
  readonly batch?: number
  /** Open connections; default 256. */
  readonly connections?: number
  /** Idle time after which a connection without running calls is closed; default 2 minutes. */
  readonly idleMs?: number
}

const mebibyte = 2 ** 20

const defaults: Required<ToolLimits> = {
  bodyBytes: 8 * mebibyte,
  heldBytes: 64 * mebibyte,
  resultBytes: 4 * mebibyte,
  callMs: 300_000,
  calls: 32,
  waiting: 1_024,
  batch: 128,
  connections: 256,
  // Longer than the keep-alive of HTTP clients, so that the client closes first.
  idleMs: 120_000,
}

/** Checks the given limits and fills in the defaults. */
export function toolLimits(given: ToolLimits): Required<ToolLimits> {
  parseAs('limits', sessionOptions.toolLimits, given)
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(defined) }
}
