import type { Handle } from '../files/handle.ts'

/** Directories above these are closed on the way down and found again on the way up. */
const maxOpen = 64

/** The open directories from one down to another. Trees may be deeper than there are descriptors. */
export class DirectoryStack {
  readonly #top: Handle
  readonly #steps: { readonly name: string; readonly ino: number; handle: Handle | undefined }[] = []

  constructor(top: Handle) {
    this.#top = top
  }

  get depth(): number {
    return this.#steps.length
  }

  /** The directory at the end, or nothing when it is not there any more. */
  get here(): Handle | undefined {
    const last = this.#steps.at(-1)
    if (last === undefined) return this.#top
    if (last.handle === undefined) this.#reopen()
    return last.handle
  }

  /** Goes down into a directory. It is closed here. */
  push(name: string, handle: Handle): void {
    this.#steps.push({ name, ino: handle.stats.ino, handle })
    const far = this.#steps[this.#steps.length - 1 - maxOpen]
    far?.handle?.close()
    if (far !== undefined) far.handle = undefined
  }

  pop(): void {
    this.#steps.pop()?.handle?.close()
  }

  close(): void {
    while (this.depth > 0) this.pop()
  }

  #reopen(): void {
    let at = this.#steps.findLastIndex(({ handle }) => handle !== undefined)
    let directory = this.#steps[at]?.handle ?? this.#top
    for (at += 1; at < this.#steps.length; at += 1) {
      const step = this.#steps[at]!
      const handle = directory.entry(step.name)
      step.handle = handle
      if (handle?.kind !== 'directory' || handle.stats.ino !== step.ino) {
        handle?.close()
        step.handle = undefined
        return
      }
      const far = this.#steps[at - maxOpen]
      far?.handle?.close()
      if (far !== undefined) far.handle = undefined
      directory = handle
    }
  }
}
