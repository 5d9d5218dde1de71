import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventContext } from '@vitrine/protocol'
import type { OpenSpan } from './trace.ts'

/** The operation around the current code: events and operations started inside belong to it. */
export interface CurrentOperation {
  readonly journal: string
  readonly operation: string
  /** Its name, such as `exec`. */
  readonly op: string
  readonly context: EventContext
  readonly span: OpenSpan
}

export const currentOperation = new AsyncLocalStorage<CurrentOperation>()
