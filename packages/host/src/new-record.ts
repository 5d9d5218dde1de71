import { newId, VitrineError } from '@vitrine/protocol'
import { checkSandboxId, shown } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { assertBindsAllowed, type LocalOptions, policySource } from '@vitrine/sandbox'
import { applyFloor } from './floor.ts'
import type { HostCreateOptions, HostParts } from './host-parts.ts'
import { storedManifest } from './stored-manifest.ts'

/** The record of a new sandbox. `labels` are those that only Vitrine may set. */
export function newRecord(
  { data, defaults, floor }: Pick<HostParts, 'data' | 'defaults' | 'floor'>,
  options: HostCreateOptions,
  labels: Readonly<Record<string, string>>,
): SandboxRecord {
  const { id = newId('sandbox'), provider = 'local', workspace, policy, onAsk, secrets } = options
  if (provider !== 'local')
    throw new VitrineError('argument_invalid', `provider: expected local, got ${shown(provider)}.`)
  // The id becomes a file name before any other code validates it.
  checkSandboxId(id)
  const local = applyFloor(floor, { ...lastingDefaults(defaults), ...options.local })
  assertBindsAllowed(data, local.binds ?? [])
  return {
    version: 1,
    id,
    provider,
    state: 'stopped',
    createdAt: new Date().toISOString(),
    labels: { ...options.labels, ...labels },
    local,
    limitsAsGiven: true,
    ...(policy && { policy: policySource(policy) }),
    ...(policy && onAsk && { onAsk: 'function' }),
    ...(secrets && Object.keys(secrets).length > 0 && { secrets: Object.keys(secrets) }),
    beforeStop: [],
    skipOnPersist: [],
    ...(workspace && { workspace: storedManifest(workspace) }),
  }
}

/**
 * The defaults that become part of a record, so that other defaults of a later host do not weaken the sandbox. The
 * environment restricts nothing and may hold secrets: it is merged in at each start.
 */
export function lastingDefaults({ data: _, env: __, ...defaults }: LocalOptions): Omit<LocalOptions, 'data'> {
  return defaults
}
