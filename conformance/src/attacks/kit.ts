import type { Capabilities } from '@vitrine/protocol'
import type { SandboxTestOptions, SandboxUnderTest } from '../sandbox/kit.ts'
import { type AttackNeed, reasonWhyNot } from './needs.ts'

/** Options that an attack sets for its sandbox. Everything else has the implementation's default. */
export interface AttackedOptions extends Omit<SandboxTestOptions, 'limits'> {
  readonly limits?: SandboxTestOptions['limits'] & { readonly diskBytes?: number }
  /** Given to every command and masked in every event. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** A daemon that serves sandboxes over HTTP, with the API of `/v1`. */
export interface AttackedDaemon {
  readonly url: string
  /** A token with full access. */
  readonly token: string
  /** A token that may only read. */
  readonly readToken: string
  /** The largest number of its connections. */
  readonly maxConnections: number
  /** The name of the agent with the settings of `attackingAgent`; absent where the daemon does not have it. */
  readonly agent?: string
  /** Restarts it with the same data, address and tokens; absent where that is not possible. */
  restart?(): Promise<void>
  /**
   * The journal of a sandbox as a person at a terminal sees it, up to the event with the text `until`; absent where
   * nothing prints it.
   */
  show?(sandbox: string, until: string): Promise<string>
}

/** How the kit gets what it attacks. */
export interface AttackDriver {
  /** Creates and starts a new sandbox on every call. */
  make(options?: AttackedOptions): Promise<SandboxUnderTest>
  /**
   * Makes the host look as if it had only this much memory, for sandboxes that are created until it is disposed: default
   * limits depend on it. Absent where that is not possible.
   */
  smallHost?(memoryBytes: number): Disposable
  /** The daemon that serves the sandboxes; absent where there is none. */
  daemon?(): Promise<AttackedDaemon>
}

/** One attack. It throws if the attack succeeds. */
export interface Attack {
  /** The promise, as a sentence. */
  readonly promise: string
  readonly needs?: readonly AttackNeed[]
  run(target: AttackTarget): Promise<void>
}

/** Gives an attack its sandboxes and its daemon. Everything that the attack made is closed when it ends. */
export class AttackTarget implements AsyncDisposable {
  readonly #driver: AttackDriver
  readonly #made = new AsyncDisposableStack()

  constructor(driver: AttackDriver) {
    this.#driver = driver
  }

  async sandbox(options?: AttackedOptions): Promise<SandboxUnderTest> {
    const under = await this.#driver.make(options)
    this.defer(() => under.close())
    return under
  }

  /** Only for attacks that need a small host. */
  smallHost(memoryBytes: number): void {
    if (this.#driver.smallHost === undefined) throw new Error('This attack needs a small host.')
    this.#made.use(this.#driver.smallHost(memoryBytes))
  }

  /** Only for attacks that need a daemon. */
  async daemon(): Promise<AttackedDaemon> {
    if (this.#driver.daemon === undefined) throw new Error('This attack needs a daemon.')
    return this.#driver.daemon()
  }

  defer(dispose: () => void | Promise<void>): void {
    this.#made.defer(dispose)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#made.disposeAsync()
  }
}

export type AttackVerdict =
  | { readonly verdict: 'held' }
  | { readonly verdict: 'not applicable'; readonly reason: string }

/** Runs one attack, or says why it does not apply. Rejects if the attack succeeds. */
export async function runAttack(driver: AttackDriver, attack: Attack): Promise<AttackVerdict> {
  const reason = await whyNotApplicable(driver, attack)
  if (reason !== undefined) return { verdict: 'not applicable', reason }
  await using target = new AttackTarget(driver)
  await attack.run(target)
  return { verdict: 'held' }
}

async function whyNotApplicable(driver: AttackDriver, { needs = [] }: Attack): Promise<string | undefined> {
  for (const need of needs) {
    const reason = await reasonWhyNot(need, driver, () => capabilitiesOf(driver))
    if (reason !== undefined) return reason
  }
  return undefined
}

const claimed = new WeakMap<AttackDriver, Promise<Capabilities>>()

/** The capabilities that a sandbox with all defaults claims. */
function capabilitiesOf(driver: AttackDriver): Promise<Capabilities> {
  const known = claimed.get(driver)
  if (known !== undefined) return known
  const reading = readCapabilities(driver)
  claimed.set(driver, reading)
  return reading
}

async function readCapabilities(driver: AttackDriver): Promise<Capabilities> {
  await using target = new AttackTarget(driver)
  return (await target.sandbox()).sandbox.capabilities
}
