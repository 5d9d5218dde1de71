import { readFileSync } from 'node:fs'

/**
 * All watches of a process share one inotify queue, and Node does not report its overflow. Node reads the queue in one
 * go, though: if one read returns at least half of the queue's capacity, notices may have been lost.
 */
const listeners = new Set<() => void>()
let counted = 0
let isScheduled = false

export function onOverflow(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Counts one inotify notice. */
export function countNotice(): void {
  counted += 1
  if (isScheduled) return
  isScheduled = true
  // Runs after all notices of one read were delivered.
  setImmediate(() => {
    const all = counted
    counted = 0
    isScheduled = false
    if (all >= queueLength() / 2) for (const listener of listeners) listener()
  })
}

let cachedLength: number | undefined

function queueLength(): number {
  if (cachedLength !== undefined) return cachedLength
  try {
    cachedLength = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || 16_384
  } catch {
    cachedLength = 16_384
  }
  return cachedLength
}
