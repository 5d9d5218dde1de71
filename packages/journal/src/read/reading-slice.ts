import { TimeSlice } from '@vitrine/protocol/primitives'

const sliceMs = 1

/** The time that a reader works before others have their turn. The caller checks its own signal. */
export function readingSlice(): TimeSlice {
  return new TimeSlice(undefined, sliceMs)
}
