import {
  type HostCallContext,
  type ProvidedSandbox,
  type SandboxProvider,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import type { SandboxRecord } from '@vitrine/protocol/records'
import type { SandboxEnd } from '@vitrine/sandbox'
import type { HostCreateOptions, HostParts } from '../host-parts.ts'
import type { HostSandbox } from '../host-sandbox.ts'
import { markDestroyed } from '../stored-sandbox.ts'
import { JournalMirror } from './journal-mirror.ts'
import { ProvidedHandle } from './provided-handle.ts'
import { closeQuietly, ProvidedLife, removeProvided } from './provided-life.ts'
import { ProviderCalls } from './provider-calls.ts'
import { assertUsable } from './usable-sandbox.ts'

export interface StartProvidedOptions {
  readonly signal: AbortSignal
  /** Aborted when the host closes. */
  readonly hostClosing: AbortSignal
  readonly context?: HostCallContext | undefined
  /** Called after the sandbox was closed or destroyed. */
  onClosed(): void
}

/** Has its provider create a sandbox, and opens it. A sandbox that cannot be opened is removed again. */
export async function createProvided(
  parts: HostParts,
  record: SandboxRecord,
  { spec = {}, image, workspace, egress, limits, env, secrets, labels }: HostCreateOptions,
  options: StartProvidedOptions,
): Promise<HostSandbox> {
  const { id, policy } = record
  const { signal, context } = options
  const calls = callsOf(parts, record)
  const given = { image, workspace, policy, egress, limits, env, secrets, labels }
  const wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const remove = (late: unknown) => removeCreated(calls, late, options)
  const created: unknown = await calls.call(
    'create',
    (call) => calls.provider.create(spec, { ...wanted, ...call }),
    { signal, context, undo: remove },
  )
  if (typeof created !== 'string' || created === '')
    throw calls.unusable('create', 'the id of the sandbox, a string', kindOf(created))
  const complete = { ...record, providerId: created }
  parts.records.put(complete)
  try {
    return await openProvided(parts, complete, options)
  } catch (error) {
    // A sandbox that could not be removed keeps its record, so that it can be destroyed later.
    const isRemoved = await remove(created).then(
      () => true,
      () => false,
    )
    if (isRemoved) parts.records.update(id, ({ providerId: _, ...rest }) => rest)
    throw error
  }
}

/** Opens an existing sandbox of a provider. */
export async function openProvided(
  parts: HostParts,
  record: SandboxRecord,
  options: StartProvidedOptions,
): Promise<HostSandbox> {
  const { id, providerId } = record
  const { signal, context, hostClosing } = options
  const calls = callsOf(parts, record)
  const { provider } = calls
  if (providerId === undefined)
    throw new VitrineError(
      'sandbox_destroyed',
      `The sandbox ${id} was never created by the provider ${provider.name}: its host ended before that. Destroy it.`,
    )
  const sandbox = await calls.call<ProvidedSandbox>('open', (call) => provider.open(providerId, call), {
    signal,
    context,
    undo: closeQuietly,
  })
  const journal = await parts.store.journal(id)
  const mirror = await mirrorOf(parts, calls, sandbox, signal).catch(async (error: unknown) => {
    await closeQuietly(sandbox)
    throw error
  })
  mirror.follow((error) => reportLost(parts, id, error))
  const onEnded = (end: SandboxEnd) => {
    if (end === 'destroyed') forgetDestroyed(parts, id)
    options.onClosed()
  }
  const life = new ProvidedLife({ sandbox, providerId, calls, mirror, hostClosing, onEnded })
  return new ProvidedHandle(sandbox, { opened: sandbox, calls, mirror, life, journal })
}

/** Checks the sandbox and copies its journal. */
async function mirrorOf(
  parts: HostParts,
  calls: ProviderCalls,
  sandbox: ProvidedSandbox,
  signal: AbortSignal,
): Promise<JournalMirror> {
  assertUsable(calls, sandbox)
  try {
    assertFloor(parts, sandbox)
    const mirror = new JournalMirror(sandbox.journal, await parts.store.journal(calls.sandbox))
    await mirror.assertContinues(signal)
    await mirror.sync(signal)
    return mirror
  } catch (error) {
    throw calls.failed('open', error)
  }
}

/** Destroys a sandbox that is not open. */
export async function destroyProvided(
  parts: HostParts,
  record: SandboxRecord,
  options: { readonly signal: AbortSignal; readonly context: HostCallContext },
): Promise<void> {
  const { id, providerId } = record
  if (providerId !== undefined) await removeProvided(callsOf(parts, record), providerId, options)
  forgetDestroyed(parts, id)
}

/** The provider of a record; throws if the host was opened without it. */
function callsOf({ providers, journal }: HostParts, { id, provider: name }: SandboxRecord): ProviderCalls {
  const provider: SandboxProvider | undefined = providers.get(name)
  if (provider !== undefined) return new ProviderCalls(provider, id, journal)
  throw new VitrineError(
    'provider_missing',
    `The sandbox ${id} is of the provider ${name}, which this host was opened without.`,
    { details: { id, provider: name } },
  )
}

async function removeCreated(
  calls: ProviderCalls,
  created: unknown,
  { hostClosing, context }: StartProvidedOptions,
): Promise<void> {
  // The signal of the caller may be aborted already; a host that closes still removes what it has made.
  const signal = hostClosing.aborted ? new AbortController().signal : hostClosing
  if (typeof created === 'string' && created !== '') await removeProvided(calls, created, { signal, context })
}

function assertFloor({ floor }: HostParts, { capabilities }: ProvidedSandbox): void {
  if (floor.isolation === undefined || capabilities.isolation !== 'none') return
  throw new VitrineError('below_floor', 'isolation: expected a sandbox with isolation on this host, got none')
}

function forgetDestroyed(parts: HostParts, id: string): void {
  markDestroyed(parts, id)
  parts.store.forgetSecretsOf(id)
}

function reportLost({ journal }: HostParts, sandbox: string, error: unknown): void {
  const { code: errorCode, message } = toVitrineError(error)
  const data = { level: 'error', message, sandbox, errorCode }
  void journal.append([{ type: 'log.message', data }]).catch(() => undefined)
}

function kindOf(value: unknown): string {
  return value === null || value === '' ? JSON.stringify(value) : `a value of type ${typeof value}`
}
