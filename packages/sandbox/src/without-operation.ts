import { AsyncLocalStorage } from 'node:async_hooks'

/** Runs a function outside of the current operation, so that its events do not belong to that operation. */
export const withoutOperation: <T>(run: () => T) => T = AsyncLocalStorage.snapshot()
