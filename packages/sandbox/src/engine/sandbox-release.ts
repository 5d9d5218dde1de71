import { Serial } from '@vitrine/protocol/primitives'

export type SandboxEnd = 'closed' | 'destroyed'

/** Ends a sandbox: runs one end at a time, and releases what was made for it together with it. All handles share it. */
export class SandboxRelease {
  readonly #release: (end: SandboxEnd) => Promise<boolean>
  readonly #ends = new Serial()
  #hasReleasedStore = false

  /** `release` resolves to whether the sandbox's store has ended too, because it was made for the sandbox. */
  constructor(release: (end: SandboxEnd) => Promise<boolean>) {
    this.#release = release
  }

  /** Whether nothing can be recorded any more. */
  get hasReleasedStore(): boolean {
    return this.#hasReleasedStore
  }

  end(how: SandboxEnd, work: () => Promise<void>): Promise<void> {
    return this.#ends.run(async () => {
      await work()
      if (!this.#hasReleasedStore) this.#hasReleasedStore = await this.#release(how)
    })
  }
}
