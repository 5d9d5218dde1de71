import type { Handle } from './directories/handle.ts'

/** Only this many directories stay open; outer ones are closed and reopened when needed. */
const maxOpen = 64

/** A stack of nested directories. It limits open descriptors, since trees may be deeper than the limit. */
export class DirectoryStack {
  readonly #top: Handle
  readonly #steps: { readonly name: string; readonly ino: number; handle: Handle | undefined }[] = []

  constructor(top: Handle) {
    this.#top = top
  }

  get depth(): number {
    return this.#steps.length
  }

  /** The innermost directory; undefined if it was removed or replaced. */
  get here(): Handle | undefined {
    const last = this.#steps.at(-1)
    if (last === undefined) return this.#top
    if (last.handle === undefined) this.#reopen()
    return last.handle
  }

  /** Enters a directory and takes ownership of its handle. */
  push(name: string, handle: Handle): void {
    this.#steps.push({ name, ino: handle.stats.ino, handle })
    const distant = this.#steps[this.#steps.length - 1 - maxOpen]
    distant?.handle?.close()
    if (distant !== undefined) distant.handle = undefined
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
