/** Makes this process look as if its container had only this much memory. */
export function smallHost(memoryBytes: number): Disposable {
  const { constrainedMemory } = process
  process.constrainedMemory = () => memoryBytes
  return {
    [Symbol.dispose]() {
      process.constrainedMemory = constrainedMemory
    },
  }
}
