const passedOn = new WeakSet<Response>()

/** An answer that somebody else gives: whatever it says it is, it may break half-way. */
export function passOn(response: Response): Response {
  passedOn.add(response)
  return response
}

/** Whether it was whole before it was an answer, as all JSON of our own is. */
export function isWhole(response: Response): boolean {
  if (response.body === null) return true
  return !passedOn.has(response) && response.headers.get('content-type')?.endsWith('json') === true
}
