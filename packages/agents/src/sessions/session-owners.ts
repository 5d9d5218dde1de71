/** Maximum number of ids that are remembered for closed sessions, and for child sessions. */
const maxRemembered = 10_000

interface SessionOwner {
  readonly info: { readonly busy: boolean }
}

/** Assigns the messages of one agent to its sessions, by the agent's own session ids. */
export class SessionOwners<Owner extends SessionOwner> {
  readonly #sessions = new Map<string, Owner>()
  /** Child sessions that the agent opened by itself, and the sessions they are assigned to. */
  readonly #children = new Map<string, Owner>()
  /** Ids of closed sessions. Their late requests have no owner, so no other session's permission rules apply to them. */
  readonly #closed = new Set<string>()

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
    this.#closed.delete(id)
    this.#children.delete(id)
    this.#sessions.set(id, owner)
  }

  /** Marks an id as closed without it ever having had an owner. */
  retire(id: string): void {
    remember(this.#closed, id)
  }

  /** Removes an id whose session could not be restored. */
  drop(id: string): void {
    this.#sessions.delete(id)
  }

  forget(owner: Owner): void {
    for (const known of [this.#sessions, this.#children])
      for (const [id, one] of known)
        if (one === owner) {
          known.delete(id)
          remember(this.#closed, id)
        }
  }

  clear(): void {
    this.#sessions.clear()
    this.#children.clear()
  }

  /** Finds the owner of a message. `opening` is the session that is being opened or restored; its id may not be known yet. */
  of(
    id: string | undefined,
    kind: 'request' | 'notification',
    opening: Owner | undefined,
  ): Owner | undefined {
    if (id === undefined) return opening
    const known = this.#sessions.get(id) ?? this.#children.get(id)
    if (known !== undefined) return known
    if (this.#closed.has(id)) return undefined
    const busy = this.all.filter(({ info }) => info.busy)
    // A request from an unknown session id comes from the session with a running turn, not from the one being opened.
    if (opening !== undefined && !(kind === 'request' && busy.length === 1)) return opening
    // A child session that the agent opened by itself is assigned to the session with a running turn.
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

function remember(closed: Set<string>, id: string): void {
  const [oldest] = closed
  if (closed.size >= maxRemembered && oldest !== undefined) closed.delete(oldest)
  closed.add(id)
}
