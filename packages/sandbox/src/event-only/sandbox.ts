import type { Journal, Store } from '@vitrine/journal'
import type {
  Capabilities,
  EventInput,
  HostCallContext,
  JournalOrigin,
  Processes,
  RecordOptions,
} from '@vitrine/protocol'
import { checkOptions, sessionOptions } from '@vitrine/protocol/options'
import { recordEvents } from '../engine/record-events.ts'
import { RecordedBatches } from '../engine/recorded-batches.ts'
import type { EngineLifecycle, EngineState, SandboxEngine } from '../engine/sandbox-engine.ts'
import { eventOnlyLifecycle } from './lifecycle.ts'
import { noProcesses } from './processes.ts'
import { needsWorkdir, refusing } from './refusal.ts'
import { refusedFiles, refusedPorts } from './refused-members.ts'
import { EventOnlyState, eventOnlyCapabilities } from './state.ts'

/** No path can exist below it: a caller that joins a name to it touches no file. */
const noFolder = '/dev/null'

const programAgent = 'openSession with an agent that is a program'

/** A sandbox without a workspace and without a machine: it has a journal and sessions with agents that are functions. */
class EventOnlySandbox implements SandboxEngine {
  readonly id: string
  readonly provider: string
  readonly root = noFolder
  readonly capabilities: Capabilities = eventOnlyCapabilities
  readonly lifecycle: EngineLifecycle
  readonly processes: Processes
  readonly files = refusedFiles
  readonly ports = refusedPorts
  readonly look = undefined
  readonly #store: Store
  readonly #journal: Journal
  readonly #state: EventOnlyState

  constructor(provider: string, store: Store, journal: Journal, state: EventOnlyState) {
    this.id = state.id
    this.provider = provider
    this.#store = store
    this.#journal = journal
    this.#state = state
    this.lifecycle = eventOnlyLifecycle(state, journal)
    this.processes = noProcesses(journal)
  }

  get journal(): JournalOrigin {
    return this.#journal
  }

  get state(): EngineState {
    return this.#state.current
  }

  get home(): string {
    throw needsWorkdir(programAgent)
  }

  as(context: HostCallContext): this {
    checkOptions('as', sessionOptions.context, context)
    const journal = this.#journal.as(context)
    // No class extends this one, so `this` is exactly `EventOnlySandbox`.
    return new EventOnlySandbox(this.provider, this.#store, journal, this.#state) as this
  }

  readonly exec = refusing('exec')
  readonly spawn = refusing('spawn')
  readonly ptyExecStart = refusing('ptyExecStart')
  readonly ptyWriteStdin = refusing('ptyWriteStdin')
  readonly ptyTerminateAll = refusing('ptyTerminateAll')
  readonly persist = refusing('persist')
  readonly hydrate = refusing('hydrate')
  readonly execUnchecked = refusing(programAgent)
  readonly spawnPiped = refusing(programAgent)
  readonly putInHome = refusing(programAgent)
  readonly allowEgress = refusing(programAgent)
  readonly listen = refusing('openSession with `tools`')

  appendPrivately(): void {
    throw needsWorkdir('a sink that writes into the workspace')
  }

  async flushFiles(): Promise<void> {}

  beginTurn(): () => void {
    return () => undefined
  }

  async replaceSecrets(secrets: Readonly<Record<string, string>>): Promise<void> {
    this.#store.addSecrets(secrets, { sandbox: this.id })
  }

  async record(events: readonly EventInput[], options?: RecordOptions): Promise<void> {
    const { batches } = this.#state
    const assertExists = () => this.#state.assertExists()
    await recordEvents({ journal: this.#journal, batches, assertExists }, events, options)
  }

  async close(): Promise<void> {
    if (this.state === 'running') await this.lifecycle.shutdown()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

export interface EventOnlyOptions {
  readonly id: string
  /** The name of the client that makes it. */
  readonly provider: string
  readonly store: Store
  /** Values that are masked in every event. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** Creates an event-only sandbox and starts it. It makes no folder and starts no process. */
export async function createEventOnlySandbox(options: EventOnlyOptions): Promise<SandboxEngine> {
  const { id, provider, store, secrets = {} } = options
  store.addSecrets(secrets, { sandbox: id })
  const journal = await store.journal(id, { source: 'engine', backend: provider, sandbox: id })
  await journal.append([{ type: 'sandbox.created', data: { provider, root: noFolder, isolation: 'none' } }])
  const batches = new RecordedBatches(journal, (text) => store.keyedHash(text))
  const sandbox = new EventOnlySandbox(provider, store, journal, new EventOnlyState(id, batches))
  await sandbox.lifecycle.start()
  return sandbox
}
