import { type Journal, openStore, type RememberedHead, type Store, type StoreDriver } from '@vitrine/journal'
import type { EventInput, JournalEvent, JournalItem } from '@vitrine/protocol'
import { type CrashingDriver, crashingDriver } from '../../drivers/crashing-driver.ts'
import { allItems } from '../../events/all-items.ts'
import { messages, output, work } from '../../events/inputs.ts'
import { eventually } from '../../waiting/within.ts'
import type { StoreUnderTest } from '../fixture.ts'
import { ModelReader } from './model-reader.ts'
import { Pager } from './pager.ts'
import type { ModelStep } from './step.ts'

export const journalIds = ['sbx_a', 'sbx_b', 'host'] as const

/** A store, its successive hosts, its readers, and everything that was acknowledged. */
export class Model {
  /** Readers of the host's own store: they disconnect with it and reconnect. */
  readonly followers: ModelReader[] = []
  /** Readers with their own read-only store: they stay connected while hosts change. */
  readonly watchers: ModelReader[] = []
  readonly pager = new Pager()
  /** Events that an append resolved with. */
  readonly acknowledged: JournalEvent[] = []
  /** The newest head of each journal that a host has seen. */
  readonly heads = new Map<string, RememberedHead>()
  readonly #underTest: StoreUnderTest
  readonly #recent: number
  readonly #abandoned: Store[] = []
  #watching: Store | undefined
  readonly #openWork = new Map<string, string>()
  #pending: Promise<unknown>[] = []
  #host: CrashingDriver | undefined
  #store: Store | undefined
  #workCount = 0
  #broken: unknown

  constructor(underTest: StoreUnderTest, recent: number) {
    this.#underTest = underTest
    this.#recent = recent
  }

  /** The first unexpected error of a step. */
  get broken(): unknown {
    return this.#broken
  }

  get driver(): StoreDriver {
    return this.#underTest.driver()
  }

  async run(step: ModelStep): Promise<void> {
    const store = await this.store()
    switch (step.do) {
      case 'append': {
        const events = step.output
          ? Array.from({ length: step.events }, (_, offset) => output('o', offset))
          : messages(step.events)
        return this.#track(step.wait, this.#append(await store.journal(idOf(step.journal)), events))
      }
      case 'work':
        return this.#track(true, this.#toggleWork(await store.journal(idOf(step.journal))))
      case 'connect': {
        const follower = new ModelReader(idOf(step.journal), step.yields)
        this.followers.push(follower)
        return follower.connect(await store.journal(follower.journal), step.from)
      }
      case 'disconnect':
        return this.followers[step.reader]?.disconnect()
      case 'reconnect': {
        const follower = this.followers[step.reader]
        return follower?.connect(await store.journal(follower.journal))
      }
      case 'watch':
        return this.#watch(idOf(step.journal))
      case 'page':
        return this.#track(true, this.pager.readPage(store, step.limit))
      case 'trim': {
        const journal = await store.journal(idOf(step.journal))
        return this.#track(step.wait, journal.trim({ events: step.keep }))
      }
      case 'takeover':
        return this.#takeover(store)
      case 'crash':
        await this.#host?.kill(step.when)
        return this.#hostStopped(this.#host?.dead === true)
      case 'reopen':
        await store.close()
        return this.#hostStopped(true)
    }
  }

  /** The store, reopened if its last host has stopped. */
  async store(): Promise<Store> {
    if (this.#host?.dead) await this.#hostStopped(true)
    if (!this.#store) await this.#open(crashingDriver(this.driver), false)
    return this.#store!
  }

  /** Waits until all calls are settled and every reader has received everything. */
  async finish(): Promise<void> {
    await Promise.all(this.#pending)
    await (await this.store()).close()
    await this.#hostStopped(true)
    const store = await this.store()
    for (const follower of this.followers) {
      const journal = await store.journal(follower.journal)
      follower.connect(journal)
      await eventually(
        `a reader of ${follower.journal} to get from ${follower.reached} to ${journal.head.seq}`,
        () => follower.reached >= journal.head.seq,
        5_000,
      )
    }
    for (const watcher of this.watchers) {
      const { head } = await store.journal(watcher.journal)
      await eventually(
        `a watcher of ${watcher.journal} to get from ${watcher.reached} to ${head.seq}`,
        () => watcher.reached >= head.seq,
        5_000,
      )
    }
    while (!(await this.pager.readPage(store, 7))) {}
  }

  async itemsOf(id: string): Promise<readonly JournalItem[]> {
    return allItems(await (await this.store()).journal(id), { limit: 9 })
  }

  async dispose(): Promise<void> {
    for (const follower of [...this.followers, ...this.watchers]) await follower.disconnect()
    await this.#watching?.close()
    if (this.#store) await this.#store.close()
    for (const store of this.#abandoned) await store.close()
    await this.#underTest.dispose()
  }

  /** Tracks a call: it may fail only if its host has crashed or is fenced. */
  async #track(wait: boolean, promise: Promise<unknown>): Promise<void> {
    const host = this.#host
    const store = this.#store
    const done = promise.then(
      () => undefined,
      (error: unknown) => {
        const code = error instanceof Error && 'code' in error ? error.code : undefined
        const isStopped = host?.dead || code === 'store_fenced' || code === 'store_closed'
        if (!isStopped && store === this.#store) this.#broken ??= error
      },
    )
    this.#pending.push(done)
    if (wait) await done
  }

  async #append(journal: Journal, events: readonly EventInput[]): Promise<void> {
    this.acknowledged.push(...(await journal.append(events)))
    const { head } = journal
    if (head.seq > (this.heads.get(journal.id)?.seq ?? 0)) this.heads.set(journal.id, head)
  }

  async #toggleWork(journal: Journal): Promise<void> {
    const open = this.#openWork.get(journal.id)
    if (open !== undefined) {
      this.#openWork.delete(journal.id)
      return this.#append(journal, [work.operation(open).end])
    }
    this.#workCount += 1
    const id = `op_${this.#workCount}`
    this.#openWork.set(journal.id, id)
    return this.#append(journal, [work.operation(id).start])
  }

  async #watch(id: string): Promise<void> {
    this.#watching ??= await openStore(this.driver, { readOnly: true })
    const watcher = new ModelReader(id, false)
    this.watchers.push(watcher)
    watcher.connect(await this.#watching.journal(id))
  }

  /** Another host takes the store over while the first one still writes. */
  async #takeover(first: Store): Promise<void> {
    const host = crashingDriver(this.driver)
    const opening = openStore(host, { takeover: true, recent: { maxEntries: this.#recent } })
    await this.#writeUntilRefused(first)
    await first.close()
    const second = await opening
    await this.#hostStopped(true)
    this.#host = host
    this.#store = second
  }

  async #writeUntilRefused(store: Store): Promise<void> {
    try {
      const journal = await store.journal('host')
      for (;;) await this.#append(journal, messages(1))
    } catch {
      // The host is fenced or crashed.
    }
  }

  async #open(host: CrashingDriver, takeover: boolean): Promise<void> {
    this.#host = host
    this.#store = await openStore(host, { takeover, recent: { maxEntries: this.#recent } })
  }

  /** Disconnects the readers of a stopped host. The next host closes the work it left open. */
  async #hostStopped(gone: boolean): Promise<void> {
    if (!gone) return
    for (const follower of this.followers) await follower.disconnect()
    if (this.#store) this.#abandoned.push(this.#store)
    this.#store = undefined
    this.#host = undefined
    this.#openWork.clear()
  }
}

function idOf(index: number): string {
  return journalIds[index] ?? 'host'
}
