import { parseAs, sessionOptions } from '@vitrine/protocol/options'

/** What serving tools may take of the host. */
export interface ToolLimits {
  /** Of one request; default 8 MiB. */
  readonly bodyBytes?: number
  /** Of all requests that are under way; default 64 MiB. */
  readonly heldBytes?: number
  /** Of one result; default 4 MiB. What is more is cut, with a note that it was. */
  readonly resultBytes?: number
  /** How long one call may run; default 5 minutes. */
  readonly callMs?: number
  /** How many calls run at once; default 32. */
  readonly calls?: number
  /** How many more may wait for one of those to end; default 1,024. */
  readonly waiting?: number
  /** How many messages one request may hold; default 128. */
  readonly batch?: number
  /** Default 256. */
  readonly connections?: number
  /** How long a connection may be silent while nothing runs for it; default 2 minutes. */
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
  // Longer than HTTP clients keep one, so that it is they who give it up.
  idleMs: 120_000,
}

/** Every limit, named or not. */
export function toolLimits(given: ToolLimits): Required<ToolLimits> {
  parseAs('limits', sessionOptions.toolLimits, given)
  const named = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(named) }
}
