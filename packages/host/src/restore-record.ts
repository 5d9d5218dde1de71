import { isDeepStrictEqual } from 'node:util'
import { type Command, VitrineError } from '@vitrine/protocol'
import type { RecordedHook, SandboxRecord } from '@vitrine/protocol/records'
import { type BuiltMachine, policyRules } from '@vitrine/sandbox'
import type { HostAttachOptions } from './host-parts.ts'

type Hook = (() => void | Promise<void>) | Command

/** The record that an attach starts from, and the fields of it that the caller has replaced. */
export interface RestoredRecord {
  readonly record: SandboxRecord
  readonly changes: Readonly<Record<string, unknown>>
}

/**
 * Replaces parts of a record by what the caller of `attach` gave. Throws if the record names a function that was not
 * given again: without it, the sandbox would not be what it was.
 */
export function restoreRecord(stored: SandboxRecord, given: HostAttachOptions): RestoredRecord {
  assertComplete(stored, given)
  const { policy, onAsk, hooks, isolation } = given
  const { onAsk: askBefore, ...rest } = stored
  const rules = policy === undefined ? stored.policy : policyRules(policy)
  // Another policy comes with its own function, or with none.
  const asks = rules && ((policy === undefined && askBefore) || (onAsk && 'function'))
  const record: SandboxRecord = {
    ...rest,
    ...(rules && { policy: rules }),
    ...(asks && { onAsk: asks }),
    ...(hooks?.beforeStop && { beforeStop: hooks.beforeStop.map(recordedHook) }),
    ...(isolation && { local: { ...stored.local, isolation } }),
  }
  return { record, changes: changesBetween(stored, record) }
}

export function recordedHook(hook: Hook): RecordedHook {
  return typeof hook === 'function' ? { function: hook.name || 'anonymous' } : { command: hook }
}

function assertComplete({ id, onAsk, beforeStop }: SandboxRecord, given: HostAttachOptions): void {
  const functions = beforeStop.flatMap((hook) => ('function' in hook ? [hook.function] : []))
  const missing = [
    ...(onAsk && given.onAsk === undefined && given.policy === undefined ? ['onAsk'] : []),
    ...(functions.length > 0 && given.hooks?.beforeStop === undefined
      ? [`hooks.beforeStop (${functions.join(', ')})`]
      : []),
  ]
  if (missing.length === 0) return
  const fields = missing.map((name) => name.split(' ')[0]).join(', ')
  throw new VitrineError(
    'attach_incomplete',
    `The sandbox ${id} was created with functions, which are not in its record: ${missing.join(' and ')}. Give them again in process: \`attach('${id}', …)\` with ${fields}.`,
    { details: { id, missing } },
  )
}

function changesBetween(before: SandboxRecord, after: SandboxRecord): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const name of ['policy', 'onAsk', 'beforeStop'] as const)
    if (!isDeepStrictEqual(before[name], after[name])) changes[name] = after[name] ?? null
  const { isolation } = after.local
  if (before.local.isolation !== isolation) changes.isolation = isolation ?? null
  return changes
}

/** Throws if a machine enforces less than the one before it. */
export function assertNotWeaker(
  { id, local, degraded }: SandboxRecord,
  machine: BuiltMachine,
  allowed: readonly string[] = [],
): void {
  if (local.isolation === 'bubblewrap' && machine.isolation === 'none')
    throw new VitrineError('isolation_unavailable', `The sandbox ${id} does not start without isolation.`)
  if (degraded === undefined) return
  // Only isolation has a /tmp to limit; a caller who gave up isolation has given up this limit too.
  const implied = machine.isolation === 'none' ? ['limits.tmpBytes'] : []
  const accepted = [...degraded, ...allowed, ...implied]
  const lost = machine.degraded.filter(
    (feature) => feature.startsWith('limits.') && !accepted.includes(feature),
  )
  if (lost.length === 0) return
  throw new VitrineError(
    'restriction_unavailable',
    `The sandbox ${id} had ${lost.join(', ')} enforced, which this host cannot do. \`attach('${id}', { allowDegraded: ${JSON.stringify(lost)} })\` starts it without.`,
    { details: { id, features: lost } },
  )
}

/** The record with what a machine really has. */
export function withMachine(record: SandboxRecord, machine: BuiltMachine): SandboxRecord {
  const { isolation, user, degraded, limits } = machine
  const local = {
    ...record.local,
    isolation,
    ...(user !== undefined && { user }),
    limits: { ...record.local.limits, ...limits },
  }
  return { ...record, local, degraded }
}
