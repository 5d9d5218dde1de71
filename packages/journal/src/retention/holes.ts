import type { Hole, IndexRow } from '../stores/contract.ts'

/** A hole with more types than this lists only `*`. */
const maxTypes = 64

/** The holes that removed entries leave, merged with adjacent holes. */
export function mergeHoles(
  journal: string,
  removed: readonly IndexRow[],
  touching: readonly Hole[],
  reason: string,
): Hole[] {
  const pieces: Hole[] = removed.map(({ seq, position, hash, type }) => ({
    journal,
    from: seq,
    to: seq,
    position,
    hash,
    reason,
    types: [type],
  }))
  const sorted = [...touching, ...pieces].sort((a, b) => a.from - b.from)
  const holes: (Hole & { seen: Set<string> })[] = []
  for (const piece of sorted) {
    const last = holes.at(-1)
    if (last && last.to + 1 === piece.from) {
      for (const type of piece.types) last.seen.add(type)
      if (last.seen.size > maxTypes || last.seen.has('*')) last.seen = new Set(['*'])
      holes[holes.length - 1] = {
        ...piece,
        from: last.from,
        seen: last.seen,
        position: Math.max(last.position, piece.position),
      }
    } else {
      holes.push({ ...piece, seen: new Set(piece.types) })
    }
  }
  return holes.map(({ seen, ...hole }) => ({ ...hole, types: [...seen].sort() }))
}
