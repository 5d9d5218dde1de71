import { assertCompiled, type CommandPolicy } from '@vitrine/command-policy'
import { memoryStore, openStore, type Store } from '@vitrine/journal'
import {
  type HostCallContext,
  newId,
  type OnObserverError,
  VitrineError,
  type WorkspaceManifest,
} from '@vitrine/protocol'
import { checkOptions, hostOptions, localOptions } from '@vitrine/protocol/options'
import { cancelled } from '@vitrine/protocol/primitives'
import { type BuiltMachine, EngineCore, sandboxDestroyed } from './engine/core.ts'
import { type AskAboutCommand, PolicyGate } from './engine/policy-gate.ts'
import { LocalSandbox } from './engine/sandbox.ts'
import { type SandboxEnd, SandboxRelease } from './engine/sandbox-release.ts'
import { registerSecrets } from './engine/secrets.ts'
import { resolveSettings } from './engine/settings.ts'
import { type LocalProvider, local } from './local.ts'
import { Preparation } from './workspace/preparation.ts'
import { readManifest } from './workspace/read-manifest.ts'

export interface LocalSandboxOptions {
  readonly provider?: LocalProvider
  /** The store that holds the sandbox's journal. Default: a new store in memory. */
  readonly store?: Store
  /** The id of an earlier sandbox continues its workspace and journal. Default: a new id. */
  readonly id?: string
  /** Which commands may run. */
  readonly policy?: CommandPolicy
  /** Called when the policy's verdict is `ask`. */
  readonly onAsk?: AskAboutCommand
  /** Prepares a new sandbox. A sandbox that continues gets only its variables and accounts again. */
  readonly workspace?: WorkspaceManifest
  /** Variables of every command whose values are masked in every event. */
  readonly secrets?: Readonly<Record<string, string>>
  /** The context of the call that creates or starts it. */
  readonly context?: HostCallContext
  /** Files of the workspace that `appendPrivately` writes: they are not watched. */
  readonly privatePaths?: readonly string[]
  /** Set if a hook before the stop failed in an earlier process: the workspace is not persisted. */
  readonly persistenceBlocked?: boolean
  /** Called with every machine that is built, before a command runs in it. If it throws, the start fails. */
  onMachine?(machine: BuiltMachine): void
  /** Cancels the preparation and undoes the part that is done. */
  readonly signal?: AbortSignal
  /** Called for each error of an observer, such as a tap. For the default store only: a given store has its own option. */
  readonly onObserverError?: OnObserverError
}

/**
 * Creates a sandbox and starts it.
 *
 * @example
 * await using sandbox = await createSandbox()
 * const { stdout } = await sandbox.exec('echo hello')
 */
export async function createLocalSandbox(options: LocalSandboxOptions = {}): Promise<LocalSandbox> {
  checkOptions('createSandbox', hostOptions.engine, options)
  const { provider = local(), id = newId('sandbox'), context = {}, signal } = options
  if (options.store !== undefined && options.onObserverError !== undefined)
    throw new VitrineError(
      'argument_invalid',
      'createSandbox options: onObserverError is for the default store; give it to the `openStore` of this store instead.',
    )
  // Checked again: a caller can build a provider object by hand, and a stored record can be damaged or come from another
  // version. Neither may start a sandbox with fewer restrictions than it names.
  checkOptions('local', localOptions.local, provider.options)
  if (options.policy !== undefined) assertCompiled(options.policy)
  const plan = options.workspace === undefined ? undefined : readManifest(options.workspace)
  const { secrets = {} } = options
  const environment = { ...provider.options.env, ...plan?.env }
  const settings = resolveSettings(id, { ...provider.options, env: environment }, options.privatePaths)
  const { onObserverError } = options
  const store =
    options.store ?? (await openStore(memoryStore(), { ...(onObserverError && { onObserverError }) }))
  let preparation: Preparation | undefined
  let forgetSecrets: (() => void) | undefined
  let gate: PolicyGate | undefined
  const release = async (end: SandboxEnd): Promise<boolean> => {
    gate?.close()
    // A store that outlives this process masks them until the sandbox is destroyed; the last events of a destroyed one follow.
    if (end === 'closed' && !store.keepsSecrets) preparation?.forgetSecrets()
    if (options.store !== undefined) return false
    // The journal of a destroyed sandbox stays readable for as long as its handle is in use.
    if (end === 'destroyed') await store.seal(sandboxDestroyed(id))
    else await store.close()
    return true
  }
  try {
    forgetSecrets = registerSecrets({ id, store }, secrets, environment)
    const journal = await store.journal(id, { source: 'engine', backend: provider.name, sandbox: id })
    const isNew = journal.head.seq === 0
    if (isNew && signal?.aborted) throw cancelled(signal)
    preparation = plan && (await Preparation.open({ plan, settings, store, journal, signal }))
    const { isolation, network, rootfs, egress, folders } = settings
    const data = { provider: provider.name, root: folders.root, isolation, network, rootfs, egress }
    // A sandbox that continues has its `sandbox.created` event already.
    if (isNew) await journal.as(context).append([{ type: 'sandbox.created', data }])
    gate = options.policy && new PolicyGate(journal, options.policy, options.onAsk)
    const core = new EngineCore(id, store, settings, journal, secrets)
    const sandbox = new LocalSandbox(core, journal, gate, new SandboxRelease(release))
    if (options.persistenceBlocked) core.beforeStop.block()
    if (options.onMachine) core.setOnMachine((machine) => options.onMachine?.(machine))
    // A sandbox that continues may have other callers who wait for the same start.
    if (isNew && signal) core.setStartSignal(signal)
    core.setFirstStartStep(() => preparation?.begin())
    core.setFinalStartStep(async () => preparation?.run({ sandbox, core }))
    try {
      await sandbox.as(context).lifecycle.start()
    } catch (error) {
      await core.abandon().catch(() => undefined)
      throw preparation === undefined ? error : await preparation.rollBack(error)
    }
    return sandbox
  } catch (error) {
    preparation?.forgetSecrets()
    forgetSecrets?.()
    await release('closed')
    throw error
  }
}
