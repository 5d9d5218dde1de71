/** Returns a function that waits until the received bytes end with a text, then clears them. */
export function until(
  onData: (listener: (bytes: Uint8Array) => void) => void,
): (end: string) => Promise<void> {
  let seen = ''
  let wanted: { readonly end: string; readonly resolve: () => void } | undefined
  const look = () => {
    if (wanted === undefined || !seen.endsWith(wanted.end)) return
    seen = ''
    const { resolve } = wanted
    wanted = undefined
    resolve()
  }
  onData((bytes) => {
    seen += Buffer.from(bytes).toString('latin1')
    look()
  })
  return (end) =>
    new Promise((resolve) => {
      wanted = { end, resolve }
      look()
    })
}
