/** A call whose refusal is a rejection, also where it throws at once. */
export async function attempt<T>(call: () => Promise<T>): Promise<T> {
  return call()
}
