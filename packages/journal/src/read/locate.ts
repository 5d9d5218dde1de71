import type { TimeSlice } from '@vitrine/protocol/primitives'
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

/**
 * The commit position of the first item at or after a time, among these journals. Positions of the whole store are not
 * sorted by time: a mirror repeats events of earlier times. So each journal is searched by its own order.
 */
export async function positionAtTime(
  connection: StoreConnection,
  journals: readonly string[],
  newest: number,
  time: number,
  slice: TimeSlice,
): Promise<number> {
  let first = newest + 1
  for (const journal of journals) {
    if (slice.expired) await slice.yieldToEventLoop()
    const head = await connection.head(journal)
    if (head === undefined || head.time < time) continue
    const seq = await seqAtTime(connection, journal, head.seq, time)
    first = Math.min(first, await positionFrom(connection, journal, seq, head.seq))
  }
  return first
}

/** The commit position of the first event or hole from a `seq` on; infinite if there is none. */
async function positionFrom(
  connection: StoreConnection,
  journal: string,
  seq: number,
  headSeq: number,
): Promise<number> {
  const [event] = await connection.index({ journal, from: seq - 1, to: headSeq, order: 'asc', limit: 1 })
  const [hole] = await connection.holes(journal, seq, headSeq)
  return Math.min(event?.position ?? Number.POSITIVE_INFINITY, hole?.position ?? Number.POSITIVE_INFINITY)
}
