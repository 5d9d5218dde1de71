import { type Journal, memoryStore, openStore, type Store, type StoreDriver } from '@vitrine/journal'
import type { JournalEvent } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import { forwardingConnection } from '../../../../conformance/src/drivers/forwarding-connection.ts'

export async function openJournal(driver = memoryStore()): Promise<{ store: Store; journal: Journal }> {
  const store = await openStore(driver)
  onTestFinished(() => store.close())
  return { store, journal: await store.journal('sbx_test', { source: 'engine' }) }
}

export async function eventsOf(journal: Journal): Promise<JournalEvent[]> {
  const { events } = await journal.read({ limit: 10_000 })
  return events.filter((item): item is JournalEvent => 'seq' in item)
}

/** One chunk of output from the journal. */
export interface Written {
  readonly stream: string
  readonly offset: number
  readonly bytes: Buffer
  readonly skipped: number
}

export async function outputOf(journal: Journal): Promise<Written[]> {
  return (await eventsOf(journal)).flatMap((event) => {
    if (event.type !== 'process.output' || typeof event.data.data !== 'string') return []
    const { stream, offset, data, encoding, skipped = 0 } = event.data
    return [{ stream, offset, bytes: Buffer.from(data, encoding), skipped }]
  })
}

export function together(written: readonly Written[], stream = 'stdout'): string {
  return Buffer.concat(written.filter((one) => one.stream === stream).map(({ bytes }) => bytes)).toString()
}

/** A store whose commits block while it is held. */
export function holding(driver: StoreDriver): StoreDriver & { pause(): () => void } {
  let held: Promise<void> = Promise.resolve()
  return {
    kind: driver.kind,
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    async open(options) {
      return forwardingConnection(await driver.open(options), async (call, run) => {
        if (call === 'commit') await held
        return run()
      })
    },
  }
}
