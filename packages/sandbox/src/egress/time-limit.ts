/** The promise, or a rejection when it takes too long or nobody waits any more. What it stands for goes on unheard. */
export function withTimeLimit<T>(limitMs: number, signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: given, resolve, reject } = Promise.withResolvers<T>()
  const leave = () => reject(new Error('the client went away'))
  const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  promise.then(resolve, reject)
  return given.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  })
}
