import { readFileSync } from 'node:fs'

/**
 * The kernel's queue of changes is one for all watches of a process, and Node does not say when it overflowed. It
 * is read in one go, though: a reading that brings half of what the queue can hold may have lost the rest.
 */
const listeners = new Set<() => void>()
let counted = 0
let due = false

export function onOverflow(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** One change that the kernel told of. */
export function countChange(): void {
  counted += 1
  if (due) return
  due = true
  // After everything that one reading brought.
  setImmediate(() => {
    const all = counted
    counted = 0
    due = false
    if (all >= queueLength() / 2) for (const listener of listeners) listener()
  })
}

let known: number | undefined

function queueLength(): number {
  if (known !== undefined) return known
  try {
    known = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || 16_384
  } catch {
    known = 16_384
  }
  return known
}
