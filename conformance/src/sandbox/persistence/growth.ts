/** How much this process grew at most while something ran. */
export async function peakGrowthOf(run: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 5)
  try {
    await run()
  } finally {
    clearInterval(watching)
  }
  return Math.max(most, process.memoryUsage.rss()) - before
}
