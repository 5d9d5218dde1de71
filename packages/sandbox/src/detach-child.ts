import type { ChildProcess } from 'node:child_process'

/** Lets this process exit while the child runs, and ignores the child's errors: its users notice a broken child. */
export function detachChild(child: ChildProcess): void {
  child.on('error', () => undefined)
  child.unref()
  child.channel?.unref()
  const { stdin } = child
  // Node leaves `stdin` out when this process has no free descriptor.
  if (!stdin) return
  stdin.on('error', () => undefined)
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
}
