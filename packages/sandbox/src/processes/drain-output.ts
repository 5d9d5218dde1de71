/** After its exit, a program's output counts as complete after `silenceMs` without a byte, at most `longestMs`. */
const silenceMs = 20
const longestMs = 500

export interface DrainState {
  /** The time of the last output, by `performance.now()`. */
  readonly lastOutput: number
  /** Whether reading is paused until the journal has caught up. */
  readonly behind: boolean
}

/**
 * Waits until all output of an exited program has been read. `held` means that another process keeps the pipes open and
 * writes nothing.
 */
export function drainOutput(closed: Promise<unknown>, state: () => DrainState): Promise<'closed' | 'held'> {
  return new Promise((resolve) => {
    const began = performance.now()
    const wait = () => {
      timer = setTimeout(check, silenceMs)
    }
    // A late timer fires before input that has arrived meanwhile, so let the event loop read the pipes first.
    const check = () => {
      setImmediate(() => {
        const { lastOutput, behind } = state()
        const now = performance.now()
        if (behind || (now - Math.max(lastOutput, began) < silenceMs && now - began < longestMs)) wait()
        else resolve('held')
      })
    }
    let timer: NodeJS.Timeout
    wait()
    void closed.then(() => {
      clearTimeout(timer)
      resolve('closed')
    })
  })
}
