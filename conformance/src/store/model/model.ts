import { type Journal, openStore, type RememberedHead, type Store, type StoreDriver } from '@vitrine/journal'
import type { EventInput, JournalEvent, JournalItem } from '@vitrine/protocol'
import { type MortalDriver, mortal } from '../../drivers/mortal.ts'
import { allItems } from '../../events/all-items.ts'
import { messages, output, work } from '../../events/inputs.ts'
import { eventually } from '../../waiting/within.ts'
import type { StoreUnderTest } from '../scene.ts'
import { Follower } from './follower.ts'
import { Pager } from './pager.ts'
import type { Step } from './step.ts'

export const journalIds = ['sbx_a', 'sbx_b', 'host'] as const

/** A store, the hosts that come and go on it, its readers, and all that anyone was ever promised. */
export class Model {
  /** Readers of the host's own store: they are cut off with it, and come back. */
  readonly followers: Follower[] = []
  /** Readers with a read-only store of their own: they see hosts come and go. */
  readonly watchers: Follower[] = []
  readonly pager = new Pager()
  /** Events that an append resolved with. */
  readonly acknowledged: JournalEvent[] = []
  /** The newest head that a host has seen of each journal. */
  readonly heads = new Map<string, RememberedHead>()
  readonly #subject: StoreUnderTest
  readonly #recent: number
  readonly #abandoned: Store[] = []
  #watching: Store | undefined
  readonly #openWork = new Map<string, string>()
  #pending: Promise<unknown>[] = []
  #host: MortalDriver | undefined
  #store: Store | undefined
  #works = 0
  #broken: unknown

  constructor(subject: StoreUnderTest, recent: number) {
    this.#subject = subject
    this.#recent = recent
  }

  /** An error that no step may have. */
  get broken(): unknown {
    return this.#broken
  }

  get driver(): StoreDriver {
    return this.#subject.driver()
  }

  async take(step: Step): Promise<void> {
    const store = await this.store()
    switch (step.do) {
      case 'append': {
        const events = step.output
          ? Array.from({ length: step.events }, (_, offset) => output('o', offset))
          : messages(step.events)
        return this.#promise(step.wait, this.#append(await store.journal(idOf(step.journal)), events))
      }
      case 'work':
        return this.#promise(true, this.#toggleWork(await store.journal(idOf(step.journal))))
      case 'connect': {
        const follower = new Follower(idOf(step.journal), step.patient)
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
        return this.#promise(true, this.pager.turn(store, step.limit))
      case 'trim': {
        const journal = await store.journal(idOf(step.journal))
        return this.#promise(step.wait, journal.trim({ events: step.keep }))
      }
      case 'takeover':
        return this.#takeover(store)
      case 'crash':
        await this.#host?.kill(step.when)
        return this.#left(this.#host?.dead === true)
      case 'reopen':
        await store.close()
        return this.#left(true)
    }
  }

  /** The store, opened anew when its last host has gone. */
  async store(): Promise<Store> {
    if (this.#host?.dead) await this.#left(true)
    if (!this.#store) await this.#open(mortal(this.driver), false)
    return this.#store!
  }

  /** Everything asked for is done or refused, and every reader has all there is. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending)
    await (await this.store()).close()
    await this.#left(true)
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
    while (!(await this.pager.turn(store, 7))) {}
  }

  async itemsOf(id: string): Promise<readonly JournalItem[]> {
    return allItems(await (await this.store()).journal(id), { limit: 9 })
  }

  async dispose(): Promise<void> {
    for (const follower of [...this.followers, ...this.watchers]) await follower.disconnect()
    await this.#watching?.close()
    if (this.#store) await this.#store.close()
    for (const store of this.#abandoned) await store.close()
    await this.#subject.dispose()
  }

  /** What a dead or fenced host was asked for is refused; anything else must be done. */
  async #promise(wait: boolean, promise: Promise<unknown>): Promise<void> {
    const host = this.#host
    const store = this.#store
    const settled = promise.then(
      () => undefined,
      (error: unknown) => {
        const code = error instanceof Error && 'code' in error ? error.code : undefined
        const gone = host?.dead || code === 'store_fenced' || code === 'store_closed'
        if (!gone && store === this.#store) this.#broken ??= error
      },
    )
    this.#pending.push(settled)
    if (wait) await settled
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
    this.#works += 1
    const id = `op_${this.#works}`
    this.#openWork.set(journal.id, id)
    return this.#append(journal, [work.operation(id).start])
  }

  async #watch(id: string): Promise<void> {
    this.#watching ??= await openStore(this.driver, { readOnly: true })
    const watcher = new Follower(id, false)
    this.watchers.push(watcher)
    watcher.connect(await this.#watching.journal(id))
  }

  /** Another host takes over while the first still writes. */
  async #takeover(first: Store): Promise<void> {
    const host = mortal(this.driver)
    const opening = openStore(host, { takeover: true, recent: { maxEntries: this.#recent } })
    await this.#writeUntilRefused(first)
    await first.close()
    const second = await opening
    await this.#left(true)
    this.#host = host
    this.#store = second
  }

  async #writeUntilRefused(store: Store): Promise<void> {
    try {
      const journal = await store.journal('host')
      for (;;) await this.#append(journal, messages(1))
    } catch {
      // Fenced off, or dead.
    }
  }

  async #open(host: MortalDriver, takeover: boolean): Promise<void> {
    this.#host = host
    this.#store = await openStore(host, { takeover, recent: { maxEntries: this.#recent } })
  }

  /** Its readers are cut off with a host. What it left open, the next one closes. */
  async #left(gone: boolean): Promise<void> {
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
