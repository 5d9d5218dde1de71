import { VitrineError } from '../errors/vitrine-error.ts'
import type { ByteRange } from '../reading.ts'
import { requireWholeNumber } from './whole-number.ts'

/** The range with its default start. Throws `argument_invalid` unless both are whole numbers in order. */
export function checkedByteRange({ from = 0, to }: ByteRange): {
  readonly from: number
  readonly to: number | undefined
} {
  requireWholeNumber('from', from)
  if (to !== undefined && requireWholeNumber('to', to) < from)
    throw new VitrineError('argument_invalid', `to: expected ${from} or more, got ${to}.`)
  return { from, to }
}
