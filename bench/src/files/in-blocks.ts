/**
 * Alternates between the runs in blocks of calls, with a pause after each block, so that deferred work such as watching
 * slows only calls of the same run. Returns the milliseconds of each call.
 */
export async function inBlocks<Name extends string>(
  runs: Readonly<Record<Name, () => Promise<unknown>>>,
  {
    blocks,
    calls,
    warmUp = 1,
    pause,
    signal,
  }: {
    blocks: number
    calls: number
    warmUp?: number
    pause: () => Promise<unknown>
    signal: AbortSignal
  },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(runs) as Name[]
  const took = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  // The JIT compiler needs some thousand calls to reach a steady state.
  for (let block = -warmUp; block < blocks; block += 1) {
    for (const name of block % 2 === 0 ? names : names.toReversed()) {
      signal.throwIfAborted()
      const run = runs[name]
      for (let call = 0; call < calls; call += 1) {
        const began = performance.now()
        await run()
        if (block >= 0) took[name].push(performance.now() - began)
      }
      await pause()
    }
  }
  return took
}
