/** Turns a synchronous throw of the call into a rejection. */
export async function attempt<T>(call: () => Promise<T>): Promise<T> {
  return call()
}
