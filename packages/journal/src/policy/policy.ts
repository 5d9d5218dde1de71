import { VitrineError } from '@vitrine/protocol'

/** Which parts of an event's payload are stored. Only the fields that are set override the defaults. */
export interface PayloadPolicy {
  /** Output of commands: `stdout`, `stderr`, and the data of `process.output`. */
  readonly output?: boolean
  /** Limit of each output field: head and tail stay, and the event records the full length and hash. */
  readonly maxOutputBytes?: number
  /** Limit of every other text. */
  readonly maxTextBytes?: number
  readonly argv?: boolean
  readonly paths?: boolean
  /** `names` keeps the names of variables without their values. */
  readonly env?: boolean | 'names'
  readonly errorText?: boolean
}

export type FullPolicy = Required<PayloadPolicy>

/** A policy for all operations, with overrides for some. */
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

/** Merges default → base → per operation; fields that are not set are inherited. */
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

/** A sink's rules only narrow the journal's events: fields that are not set let everything pass. */
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
