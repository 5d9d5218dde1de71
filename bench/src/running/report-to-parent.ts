/** The result that a child process sends to the process that started it. */
export type ChildResult = { readonly value: unknown } | { readonly error: string }

/**
 * Does the work of a child process of `inChild` and tells its result. The signal is aborted when the parent says so or
 * is gone. The process ends with its work: a timer or a socket that is left open does not keep it alive.
 */
export async function reportToParent(work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const stop = new AbortController()
  process.once('message', (reason: unknown) => stop.abort(new Error(String(reason))))
  process.once('disconnect', () => stop.abort(new Error('The process that started this one is gone.')))
  const result = await work(stop.signal).then(
    (value): ChildResult => ({ value }),
    (error: unknown): ChildResult => ({ error: error instanceof Error ? error.message : String(error) }),
  )
  if (process.connected) process.send?.(result, () => process.exit(0))
  else process.exit(1)
}
