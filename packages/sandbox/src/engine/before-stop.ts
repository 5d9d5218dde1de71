export type BeforeStopHook = () => void | Promise<void>

/** The hooks that run once before a sandbox stops. If one fails, the workspace is not persisted. */
export class BeforeStop {
  readonly #hooks: BeforeStopHook[] = []
  #armed = false
  #failed = false

  /** True once a hook has failed, and never false again: the workspace may be half changed. */
  get failed(): boolean {
    return this.#failed
  }

  /** Continues a sandbox in which a hook has failed before. */
  block(): void {
    this.#failed = true
  }

  /** Adding a hook makes all hooks due again. */
  add(hook: BeforeStopHook): void {
    this.#hooks.push(hook)
    this.#armed = true
  }

  /** Runs all hooks if they are due, also after one has failed, and then throws the first error. */
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
