import type { StoreConnection, StoreDriver } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { type Around, forwarding } from './forward.ts'

/** When its host dies: between two calls, before the next commit reaches the store, or just after it did. */
export type Death = 'now' | 'before the next commit' | 'after the next commit'

export interface MortalDriver extends StoreDriver {
  /** Ends its connections as the death of a process would: nothing is finished, and nothing gets through any more. */
  kill(when?: Death): Promise<void>
  readonly dead: boolean
}

/** A driver whose host can die. The store behind it lives on, and another driver finds what was committed. */
export function mortal(driver: StoreDriver): MortalDriver {
  const connections: StoreConnection[] = []
  let dead = false
  let death: Death | undefined

  const die = async () => {
    dead = true
    for (const connection of connections.splice(0)) await connection.close()
  }

  const around: Around = async (call, run) => {
    if (dead) throw gone()
    if (call !== 'commit' || death === undefined) return run()
    if (death === 'after the next commit') await run()
    await die()
    throw gone()
  }

  return {
    kind: driver.kind,
    get dead() {
      return dead
    },
    async open(options) {
      if (dead) throw gone()
      const connection = await driver.open(options)
      connections.push(connection)
      const close = async () => {
        if (!dead) await connection.close()
      }
      return forwarding(connection, around, { close })
    },
    async kill(when = 'now') {
      if (when === 'now') await die()
      else death = when
    },
  }
}

function gone(): VitrineError {
  return new VitrineError('store_unavailable', 'The host of this connection has died.')
}
