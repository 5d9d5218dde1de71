/**
 * Takes turns by blocks of calls, with a rest after each block: what a call leaves to be done later, as watching does,
 * falls on calls of its own kind and not on its neighbour's. Milliseconds of each call.
 */
export async function inBlocks<Name extends string>(
  runs: Readonly<Record<Name, () => Promise<unknown>>>,
  {
    blocks,
    calls,
    warmUp = 1,
    rest,
    signal,
  }: {
    blocks: number
    calls: number
    warmUp?: number
    rest: () => Promise<unknown>
    signal: AbortSignal
  },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(runs) as Name[]
  const took = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  // Compilers take some thousand calls to settle.
  for (let block = -warmUp; block < blocks; block += 1) {
    for (const name of block % 2 === 0 ? names : names.toReversed()) {
      signal.throwIfAborted()
      const run = runs[name]
      for (let call = 0; call < calls; call += 1) {
        const began = performance.now()
        await run()
        if (block >= 0) took[name].push(performance.now() - began)
      }
      await rest()
    }
  }
  return took
}
