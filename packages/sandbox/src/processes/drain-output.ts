/** How long what a program has written may still be on its way after its end. */
const silenceMs = 20
const longestMs = 500

export interface Heard {
  /** When something came last, by `performance.now()`. */
  readonly lastOutput: number
  /** Whether something waits to be taken before more can come. */
  readonly behind: boolean
}

/**
 * Waits until everything a dead program has written has been read. `held`: something else keeps its pipes open, and
 * nothing more comes out of them.
 */
export function drainOutput(closed: Promise<unknown>, heard: () => Heard): Promise<'closed' | 'held'> {
  return new Promise((resolve) => {
    const began = performance.now()
    const listen = () => {
      timer = setTimeout(look, silenceMs)
    }
    // After a look at the pipes: a timer that is late comes before what has arrived meanwhile.
    const look = () => {
      setImmediate(() => {
        const { lastOutput, behind } = heard()
        const now = performance.now()
        if (behind || (now - Math.max(lastOutput, began) < silenceMs && now - began < longestMs)) listen()
        else resolve('held')
      })
    }
    let timer: NodeJS.Timeout
    listen()
    void closed.then(() => {
      clearTimeout(timer)
      resolve('closed')
    })
  })
}
