/** Alternates between the runs, so that other load affects all of them alike. Returns the milliseconds of each call. */
export async function alternate<Name extends string>(
  runs: Readonly<Record<Name, () => Promise<unknown>>>,
  {
    rounds,
    warmUp,
    between,
    signal,
  }: { rounds: number; warmUp: number; between?: () => Promise<unknown> | undefined; signal: AbortSignal },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(runs) as Name[]
  const took = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = -warmUp; round < rounds; round += 1) {
    // A costly run slows the one after it, so the order rotates: each run gets every position and every neighbour.
    const first = (round + warmUp) % names.length
    const forward = Math.floor((round + warmUp) / names.length) % 2 === 0
    const order = [...names.slice(first), ...names.slice(0, first)]
    for (const name of forward ? order : order.toReversed()) {
      signal.throwIfAborted()
      await between?.()
      const began = performance.now()
      await runs[name]()
      if (round >= 0) took[name].push(performance.now() - began)
    }
  }
  return took
}
