import { type JournalGap, matchTypes } from '@vitrine/protocol'
import { asFields, textsIn } from './fields.ts'

/** Whether a gap may hide events of these types. A gap without a list of types may hide any. */
export function gapMayContain(gap: JournalGap, types: readonly string[]): boolean {
  const missing = textsIn(asFields(gap.data), 'types') ?? []
  if (missing.length === 0) return true
  return missing.some(matchTypes(types)) || types.some(matchTypes(missing))
}
