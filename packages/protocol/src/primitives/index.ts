/** Building blocks that several packages share and that are no part of the contract. Browser-safe, without schemas. */
export { hasTooManyValues } from '../events/count-values.ts'
export { withinEventValues } from '../events/cut-values.ts'
export { checkSandboxId, idPattern, namePattern, sessionIdPattern } from '../ids.ts'
export { shown } from '../shown.ts'
export { Backoff } from './backoff.ts'
export { checkedByteRange } from './byte-range.ts'
export { toWebStream } from './byte-stream.ts'
export { copyEvent } from './copy-event.ts'
export { type GlobPattern, globPattern } from './glob-pattern.ts'
export { type Ignored, ignoreMatcher, isBelowIgnored } from './ignore-patterns.ts'
export {
  itemCursor,
  itemCursorOfAll,
  itemSeq,
  parseItemCursor,
  parseItemCursorOfAll,
} from './item-cursor.ts'
export { decodedManifest, encodedManifest } from './manifest-bytes.ts'
export { type Listener, notify, notifyOne } from './notify.ts'
export { ObserverErrors } from './observer-errors.ts'
export { decodePathText, encodePathText, isPathText } from './path-text.ts'
export { promptBlocks } from './prompt-blocks.ts'
export { PullIterator, type PullSource } from './pull-iterator.ts'
export { fitsFilter } from './sandbox-filter.ts'
export { Semaphore } from './semaphore.ts'
export { Serial } from './serial.ts'
export { systemErrorCode } from './system-error.ts'
export { settledWithin } from './time-limit.ts'
export { cancelled, TimeSlice } from './time-slice.ts'
export { isWholeNumber, requirePort, requireWholeNumber } from './whole-number.ts'
