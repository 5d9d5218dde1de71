/** Building blocks that several packages share and that are no part of the contract. Browser-safe, without schemas. */
export { checkSandboxId, idPattern, namePattern, sessionIdPattern } from '../ids.ts'
export { Backoff } from './backoff.ts'
export { decodePathText, encodePathText, isPathText } from './path-text.ts'
export { Semaphore } from './semaphore.ts'
export { Serial } from './serial.ts'
export { systemErrorCode } from './system-error.ts'
export { settledWithin } from './time-limit.ts'
export { isWholeNumber, requirePort, requireWholeNumber } from './whole-number.ts'
