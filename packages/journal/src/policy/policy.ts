import { VitrineError } from '@vitrine/protocol'

/** What of an event's payload is kept. Every field is optional: only what is set overrides. */
export interface PayloadPolicy {
  /** Output of commands: `stdout`, `stderr`, and the data of `process.output`. */
  readonly output?: boolean
  /** Of each output field: head and tail are kept, the length and hash of the whole are noted. */
  readonly maxOutputBytes?: number
  /** Of every other text. */
  readonly maxTextBytes?: number
  readonly argv?: boolean
  readonly paths?: boolean
  /** `names` keeps the names of variables without their values. */
  readonly env?: boolean | 'names'
  readonly errorText?: boolean
}

export type FullPolicy = Required<PayloadPolicy>

/** A policy for all operations, and what differs for some. */
export interface PolicyRules {
  readonly base: FullPolicy
  readonly byOp: Readonly<Record<string, FullPolicy>>
}

export const defaultPolicy: FullPolicy = {
  output: true,
  maxOutputBytes: 64 * 1024,
  maxTextBytes: Number.POSITIVE_INFINITY,
  argv: true,
  paths: true,
  env: 'names',
  errorText: true,
}

/** Default → base → per operation; a field that is not set leaves what was there. */
export function policyRules(
  base: PayloadPolicy = {},
  byOp: Readonly<Record<string, PayloadPolicy>> = {},
): PolicyRules {
  const merged = mergePolicy(defaultPolicy, base)
  return {
    base: merged,
    byOp: Object.fromEntries(Object.entries(byOp).map(([op, policy]) => [op, mergePolicy(merged, policy)])),
  }
}

/** A sink's rules only narrow what the journal holds: where nothing is said, everything in the journal passes. */
export function sinkRules(policy: PayloadPolicy = {}): PolicyRules {
  const everything: FullPolicy = {
    output: true,
    maxOutputBytes: Number.POSITIVE_INFINITY,
    maxTextBytes: Number.POSITIVE_INFINITY,
    argv: true,
    paths: true,
    env: true,
    errorText: true,
  }
  return { base: mergePolicy(everything, policy), byOp: {} }
}

function mergePolicy(under: FullPolicy, over: PayloadPolicy): FullPolicy {
  for (const key of ['maxOutputBytes', 'maxTextBytes'] as const) {
    const value = over[key]
    if (value === undefined || value === Number.POSITIVE_INFINITY) continue
    if (!Number.isInteger(value) || value < 0) {
      throw new VitrineError(
        'argument_invalid',
        `policy.${key}: expected a whole number of bytes, 0 or more, got ${value}.`,
      )
    }
  }
  return { ...under, ...Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined)) }
}
