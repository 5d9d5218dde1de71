import type { Node, Seen } from './node.ts'

/** The workspace as it is now. What cannot be looked at throws: that is not the same as being gone. */
export interface Disk {
  /** A directory of the tree, or nothing where something else is by now. */
  open(node: Node): OpenDirectory | undefined
}

export interface OpenDirectory {
  names(): string[]
  see(name: string): Seen | undefined
  /** What the name below is, as a directory. */
  enter(name: string): OpenDirectory | undefined
  /** The content of a regular file that is not larger. */
  read(name: string, maxBytes: number): Uint8Array | undefined
  /** Has the kernel tell about changes here; the reason where it does not. */
  watch(heard: (name: string | null) => void): (() => void) | { readonly reason: string }
  close(): void
}
