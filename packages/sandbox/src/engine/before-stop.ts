export type BeforeStopHook = () => void | Promise<void>

/** What must happen before a sandbox stops: once, all of it, and a failure spoils what would be persisted. */
export class BeforeStop {
  readonly #hooks: BeforeStopHook[] = []
  #armed = false
  #failed = false

  /** True for good once a hook has failed: the workspace may be in a half state. */
  get failed(): boolean {
    return this.#failed
  }

  /** Another hook makes all of them due again. */
  add(hook: BeforeStopHook): void {
    this.#hooks.push(hook)
    this.#armed = true
  }

  /** Runs every hook that is due, also after one has failed, and then throws the first error. */
  async run(): Promise<void> {
    if (!this.#armed) return
    this.#armed = false
    const errors: unknown[] = []
    for (const hook of this.#hooks) {
      try {
        await hook()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length === 0) return
    this.#failed = true
    throw errors[0]
  }
}
