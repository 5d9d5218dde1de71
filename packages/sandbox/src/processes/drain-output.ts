/** After its exit, a program's output counts as complete after `silenceMs` without a byte, at most `longestMs`. */
const silenceMs = 20
const longestMs = 500
/** More than a pipe holds: bytes that come after so many were written after the exit, by another process. */
const pipeBytes = 2 * 1024 * 1024

export interface DrainState {
  /** The number of bytes that were read. */
  readonly bytes: number
  /** Whether reading is paused until the journal has caught up. */
  readonly behind: boolean
}

/**
 * Waits until all output of an exited program has been read. `held` means that another process keeps the pipes open; the
 * program's own output has been read even then, however slow the reader is.
 */
export function drainOutput(closed: Promise<unknown>, state: () => DrainState): Promise<'closed' | 'held'> {
  return new Promise((resolve) => {
    const began = performance.now()
    const bytesAtExit = state().bytes
    let timer: NodeJS.Timeout
    let wasEmpty = false
    const wait = (before: DrainState) => {
      timer = setTimeout(() => setImmediate(() => check(before, state())), silenceMs)
    }
    // The event loop reads the pipes once between two immediates: if nothing came then, they are empty.
    const check = (before: DrainState, now: DrainState) => {
      setImmediate(() => {
        const later = state()
        const isEmpty = !now.behind && !later.behind && later.bytes === now.bytes
        wasEmpty ||= isEmpty
        const isSilent = isEmpty && !before.behind && later.bytes === before.bytes
        const isOver = performance.now() - began >= longestMs && !later.behind
        const isComplete = wasEmpty || later.bytes - bytesAtExit > pipeBytes
        // One more immediate: a pipe that has just ended closes before it.
        if (isSilent || (isOver && isComplete)) setImmediate(() => resolve('held'))
        else wait(later)
      })
    }
    wait(state())
    void closed.then(() => {
      clearTimeout(timer)
      resolve('closed')
    })
  })
}
