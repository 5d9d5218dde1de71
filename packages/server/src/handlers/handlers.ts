import type { Routes } from '@vitrine/protocol/http'
import type { Daemon } from '../daemon/daemon.ts'
import type { HandlersOf } from '../routing/call.ts'
import { eventHandlers } from './events.ts'
import { fileHandlers } from './files.ts'
import { journalHandlers } from './journal.ts'
import { processHandlers } from './processes.ts'
import { sandboxHandlers } from './sandboxes.ts'
import { sessionHandlers } from './sessions.ts'

/** The handlers of all routes; the type makes the compiler report a missing one. */
export function handlersOf(daemon: Daemon): HandlersOf<Routes> {
  return {
    ...sandboxHandlers(daemon),
    ...eventHandlers(daemon),
    ...journalHandlers(daemon),
    ...processHandlers(daemon),
    ...fileHandlers(daemon),
    ...sessionHandlers(daemon),
  }
}
