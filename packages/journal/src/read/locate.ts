import type { StoreConnection } from '../stores/contract.ts'

/** The `seq` of the first event at or after a time: times never decrease within a journal. */
export async function seqAtTime(
  connection: StoreConnection,
  journal: string,
  headSeq: number,
  time: number,
): Promise<number> {
  let low = 1
  let high = headSeq + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [entry] = await connection.index({
      journal,
      from: middle - 1,
      to: headSeq,
      order: 'asc',
      limit: 1,
    })
    if (entry === undefined || entry.time >= time) high = middle
    else low = entry.seq + 1
  }
  return low
}
