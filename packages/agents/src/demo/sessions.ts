import { type McpServer, RequestError, type SessionInfo } from '@agentclientprotocol/sdk/unstable'
import { awake, type DemoSession, forkOf, type KeptSession, newSession } from './session.ts'
import { openShelf, type Shelf } from './shelf.ts'

const pageSize = 100

/** The sessions of this process, and behind them those on disk. */
export class Sessions {
  readonly #open = new Map<string, DemoSession>()
  readonly #shelf: Shelf

  constructor(home: string | undefined) {
    this.#shelf = openShelf(home)
  }

  create(cwd: string, mcpServers: readonly McpServer[]): DemoSession {
    return this.#opened(newSession(cwd, mcpServers))
  }

  /** One that is open; a prompt to any other is an error. */
  get(id: string): DemoSession {
    const session = this.#open.get(id)
    if (session === undefined) throw RequestError.sessionNotFound(id)
    return session
  }

  /** One that is open or on disk, in a new place. */
  wake(id: string, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
    const session = this.#open.get(id)
    if (session === undefined) return this.#opened(awake(this.#known(id), cwd, mcpServers))
    session.cwd = cwd
    session.mcpServers = mcpServers
    return session
  }

  fork(id: string, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
    return this.#opened(forkOf(this.#known(id), cwd, mcpServers))
  }

  keep(session: DemoSession): void {
    session.updatedAt = new Date().toISOString()
    this.#shelf.put(session)
  }

  close(id: string): void {
    const session = this.get(id)
    session.running?.abort(new Error('the session was closed'))
    this.#open.delete(id)
  }

  /** A page of them, the latest first; the cursor is a place. */
  list(
    cwd: string | undefined,
    cursor: string | undefined,
  ): { sessions: SessionInfo[]; nextCursor?: string } {
    const all = new Map(
      [...this.#shelf.all(), ...this.#open.values()].map((session) => [session.id, session]),
    )
    const found = [...all.values()]
      .filter((session) => cwd === undefined || session.cwd === cwd)
      .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    const from = Number(cursor ?? 0)
    if (!Number.isSafeInteger(from) || from < 0) throw RequestError.invalidParams({ cursor })
    const sessions = found.slice(from, from + pageSize).map(infoOf)
    return from + pageSize < found.length ? { sessions, nextCursor: String(from + pageSize) } : { sessions }
  }

  #known(id: string): KeptSession {
    const session = this.#open.get(id) ?? this.#shelf.get(id)
    if (session === undefined) throw RequestError.sessionNotFound(id)
    return session
  }

  #opened(session: DemoSession): DemoSession {
    this.#open.set(session.id, session)
    this.keep(session)
    return session
  }
}

function infoOf({ id, cwd, title, updatedAt }: KeptSession): SessionInfo {
  return { sessionId: id, cwd, updatedAt, ...(title === undefined ? {} : { title }) }
}
