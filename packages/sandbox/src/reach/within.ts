/** The promise, or a rejection when it takes longer. What it was waiting for goes on unheard. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
