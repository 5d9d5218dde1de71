import type { ChildProcess } from 'node:child_process'

/** A process of ours that this one does not wait for. What goes wrong with it shows where it is used. */
export function inBackground(child: ChildProcess): void {
  child.on('error', () => undefined)
  child.unref()
  child.channel?.unref()
  const { stdin } = child
  // Absent when this process had no descriptor left for it.
  if (!stdin) return
  stdin.on('error', () => undefined)
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
}
