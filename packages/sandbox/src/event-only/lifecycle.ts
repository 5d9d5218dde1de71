import type { Journal } from '@vitrine/journal'
import type { EngineLifecycle } from '../engine/sandbox-engine.ts'
import { needsWorkdir, refusing } from './refusal.ts'
import type { EventOnlyState } from './state.ts'

/** The lifecycle of an event-only sandbox. Every call is an operation, as in a sandbox with a machine. */
export function eventOnlyLifecycle(state: EventOnlyState, journal: Journal): EngineLifecycle {
  const { beforeStop } = state
  const shutdown = (reason: string) => journal.operate('shutdown', {}, () => state.shutdown(journal, reason))
  return {
    get persistenceBlocked() {
      return beforeStop.failed
    },
    start: () => journal.operate('start', {}, () => state.start(journal)),
    stop: (reason = 'stopped') =>
      journal.operate('stop', {}, () =>
        state.stopOnce(async () => {
          try {
            await journal.operate('before_stop', {}, () => beforeStop.run())
          } finally {
            await shutdown(reason)
          }
        }),
      ),
    shutdown: () => shutdown('shutdown'),
    pause: refusing('lifecycle.pause'),
    resume: refusing('lifecycle.resume'),
    destroy: (reason) => {
      const data = reason === undefined ? {} : { reason }
      return journal.operate('destroy', data, () => state.destroy(journal, data))
    },
    running: () =>
      journal.operate('running', {}, () => state.current === 'running', { finish: (alive) => ({ alive }) }),
    async onBeforeStop(hook) {
      if (typeof hook !== 'function') throw needsWorkdir('lifecycle.onBeforeStop with a command')
      beforeStop.add(hook)
    },
    skipOnPersist: refusing('lifecycle.skipOnPersist'),
  }
}
