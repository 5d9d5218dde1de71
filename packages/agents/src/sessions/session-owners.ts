/** What is remembered of ids that are nobody's session any more, or that nobody opened. */
const maxRemembered = 10_000

interface Owning {
  readonly info: { readonly busy: boolean }
}

/** Whose a message is, of the sessions that one agent has. An agent's word is its own id of a session. */
export class SessionOwners<Owner extends Owning> {
  readonly #sessions = new Map<string, Owner>()
  /** Child sessions that nobody opened, and whom they were taken to belong to. */
  readonly #children = new Map<string, Owner>()
  /** Those that are over: what they still ask for is nobody's, and no other session's rules decide it. */
  readonly #past = new Set<string>()

  get size(): number {
    return this.#sessions.size
  }

  get all(): readonly Owner[] {
    return [...new Set(this.#sessions.values())]
  }

  has(owner: Owner): boolean {
    return this.all.includes(owner)
  }

  set(id: string, owner: Owner): void {
    this.#past.delete(id)
    this.#children.delete(id)
    this.#sessions.set(id, owner)
  }

  /** It is nobody's. */
  retire(id: string): void {
    remember(this.#past, id)
  }

  /** It was never one. */
  drop(id: string): void {
    this.#sessions.delete(id)
  }

  forget(owner: Owner): void {
    for (const known of [this.#sessions, this.#children])
      for (const [id, one] of known)
        if (one === owner) {
          known.delete(id)
          remember(this.#past, id)
        }
  }

  clear(): void {
    this.#sessions.clear()
    this.#children.clear()
  }

  /** `opening` is the session that is being opened or restored: its id may not be known yet. */
  of(
    id: string | undefined,
    kind: 'request' | 'notification',
    opening: Owner | undefined,
  ): Owner | undefined {
    if (id === undefined) return opening
    const known = this.#sessions.get(id) ?? this.#children.get(id)
    if (known !== undefined) return known
    if (this.#past.has(id)) return undefined
    const busy = this.all.filter(({ info }) => info.busy)
    // Who works asks; who is being opened has hardly begun.
    if (opening !== undefined && !(kind === 'request' && busy.length === 1)) return opening
    // A child session that nobody opened belongs to whoever has a turn; nothing of it is lost.
    const owner = busy[0] ?? this.all.at(-1)
    if (owner !== undefined && opening === undefined) this.#adopt(id, owner)
    return owner
  }

  #adopt(id: string, owner: Owner): void {
    const [oldest] = this.#children.keys()
    if (this.#children.size >= maxRemembered && oldest !== undefined) this.#children.delete(oldest)
    this.#children.set(id, owner)
  }
}

function remember(past: Set<string>, id: string): void {
  const [oldest] = past
  if (past.size >= maxRemembered && oldest !== undefined) past.delete(oldest)
  past.add(id)
}
