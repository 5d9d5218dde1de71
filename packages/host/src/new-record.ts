import { newId, VitrineError } from '@vitrine/protocol'
import { checkSandboxId, shown } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { assertBindsAllowed, type LocalOptions, policyRules } from '@vitrine/sandbox'
import { applyFloor } from './floor.ts'
import type { HostCreateOptions, HostParts } from './host-parts.ts'
import { lifeTimesOf } from './life-times/life-times-of.ts'
import { storedManifest } from './stored-manifest.ts'
import { refuseUntaken, refuseUntakenBy } from './untaken-options.ts'

/** The record of a new sandbox. `labels` are those that only Vitrine may set. */
export function newRecord(
  { data, defaults, floor, providers }: Pick<HostParts, 'data' | 'defaults' | 'floor' | 'providers'>,
  options: HostCreateOptions,
  labels: Readonly<Record<string, string>>,
): SandboxRecord {
  const { id = newId('sandbox'), provider = 'local', workspace, policy, onAsk, secrets } = options
  const known = ['local', ...providers.keys()]
  if (!known.includes(provider))
    throw new VitrineError(
      'argument_invalid',
      `provider: expected ${known.join(' or ')}, got ${shown(provider)}.`,
    )
  // The id becomes a file name before any other code validates it.
  checkSandboxId(id)
  const other = providers.get(provider)
  if (other !== undefined) refuseUntakenBy(other, options)
  const local = other ? {} : applyFloor(floor, { ...lastingDefaults(defaults), ...localOf(options) })
  assertBindsAllowed(data, local.binds ?? [])
  return {
    version: 1,
    id,
    provider,
    state: 'stopped',
    createdAt: new Date().toISOString(),
    labels: { ...options.labels, ...labels },
    ...lifeTimesOf(options),
    local,
    limitsAsGiven: true,
    ...(policy && { policy: policyRules(policy) }),
    ...(policy && onAsk && { onAsk: 'function' }),
    ...(secrets && Object.keys(secrets).length > 0 && { secrets: Object.keys(secrets) }),
    beforeStop: [],
    skipOnPersist: [],
    ...(workspace && !other && { workspace: storedManifest(workspace) }),
  }
}

/** The options of the local provider. An option that every provider may take is given beside `local`, or in it. */
function localOf({
  local = {},
  image,
  spec,
  egress,
  limits,
  env,
}: HostCreateOptions): NonNullable<HostCreateOptions['local']> {
  refuseUntaken('local', { image, spec })
  const beside = Object.entries({ egress, limits, env }).filter(([, value]) => value !== undefined)
  const twice = beside.find(([name]) => Reflect.get(local, name) !== undefined)
  if (twice !== undefined)
    throw new VitrineError(
      'argument_invalid',
      `${twice[0]}: expected it once, got it also as local.${twice[0]}.`,
      { details: { path: twice[0] } },
    )
  return { ...local, ...Object.fromEntries(beside) }
}

/**
 * The defaults that become part of a record, so that other defaults of a later host do not weaken the sandbox. The
 * environment restricts nothing and may hold secrets: it is merged in at each start.
 */
export function lastingDefaults({ data: _, env: __, ...defaults }: LocalOptions): Omit<LocalOptions, 'data'> {
  return defaults
}
