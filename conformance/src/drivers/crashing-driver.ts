import type { StoreConnection, StoreDriver } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { type CallInterceptor, forwardingConnection } from './forwarding-connection.ts'

/** When the host crashes: between two calls, or before or after the next commit reaches the store. */
export type CrashPoint = 'now' | 'before the next commit' | 'after the next commit'

export interface CrashingDriver extends StoreDriver {
  /** Closes its connections like the crash of a process: nothing is flushed, and every later call fails. */
  kill(when?: CrashPoint): Promise<void>
  readonly dead: boolean
}

/** A driver whose host can crash. The store behind it stays, and another driver finds the committed data. */
export function crashingDriver(driver: StoreDriver): CrashingDriver {
  const connections: StoreConnection[] = []
  let dead = false
  let crashPoint: CrashPoint | undefined

  const crash = async () => {
    dead = true
    for (const connection of connections.splice(0)) await connection.close()
  }

  const intercept: CallInterceptor = async (call, run) => {
    if (dead) throw crashedError()
    if (call !== 'commit' || crashPoint === undefined) return run()
    if (crashPoint === 'after the next commit') await run()
    await crash()
    throw crashedError()
  }

  return {
    kind: driver.kind,
    get dead() {
      return dead
    },
    async open(options) {
      if (dead) throw crashedError()
      const connection = await driver.open(options)
      connections.push(connection)
      const close = async () => {
        if (!dead) await connection.close()
      }
      return forwardingConnection(connection, intercept, { close })
    },
    async kill(when = 'now') {
      if (when === 'now') await crash()
      else crashPoint = when
    },
  }
}

function crashedError(): VitrineError {
  return new VitrineError('store_unavailable', 'The host of this connection has crashed.')
}
