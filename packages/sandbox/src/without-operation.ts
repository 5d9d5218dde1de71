import { AsyncLocalStorage } from 'node:async_hooks'

/** Runs something that belongs to no operation, though it was set up inside one. */
export const withoutOperation: <T>(run: () => T) => T = AsyncLocalStorage.snapshot()
