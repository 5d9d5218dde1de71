/** The result that a child process sends to the process that started it. */
export type ChildResult = { readonly value: unknown } | { readonly error: string }

/**
 * Does the work of a child process of `inChild` and sends its result to the parent. The signal is aborted when the parent
 * sends a stop message or disconnects. The process exits after its work, even if a timer or a socket is left open.
 */
export async function reportToParent(work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const stop = new AbortController()
  process.once('message', (reason: unknown) => stop.abort(new Error(String(reason))))
  process.once('disconnect', () => stop.abort(new Error('The parent process has disconnected.')))
  const result = await work(stop.signal).then(
    (value): ChildResult => ({ value }),
    (error: unknown): ChildResult => ({ error: error instanceof Error ? error.message : String(error) }),
  )
  if (process.connected) process.send?.(result, () => process.exit(0))
  else process.exit(1)
}
