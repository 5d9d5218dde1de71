/** Every options object of the public API as a schema, and the one way to check against it. */
export { fieldPath } from '../expectation.ts'
export { checkOptions, parseAs } from './check-options.ts'
export { localOptions } from './local.ts'
export { manifestOptions } from './manifest.ts'
export { policyOptions } from './policy.ts'
export { strict } from './strict.ts'
