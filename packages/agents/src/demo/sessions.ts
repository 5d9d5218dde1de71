import { type McpServer, RequestError, type SessionInfo } from '@agentclientprotocol/sdk/unstable'
import { type DemoSession, forkOf, fromStored, newSession, type StoredSession } from './session.ts'
import { openSessionFiles, type SessionFiles } from './session-files.ts'

const pageSize = 100

/** The open sessions of this process, and the stored ones on disk. */
export class DemoSessions {
  readonly #open = new Map<string, DemoSession>()
  readonly #files: SessionFiles

  constructor(home: string | undefined) {
    this.#files = openSessionFiles(home)
  }

  create(cwd: string, mcpServers: readonly McpServer[]): DemoSession {
    return this.#add(newSession(cwd, mcpServers))
  }

  /** Returns an open session; throws for any other. */
  get(id: string): DemoSession {
    const session = this.#open.get(id)
    if (session === undefined) throw RequestError.sessionNotFound(id)
    return session
  }

  /** Returns an open or stored session, with a new working directory. */
  restore(id: string, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
    const session = this.#open.get(id)
    if (session === undefined) return this.#add(fromStored(this.#find(id), cwd, mcpServers))
    session.cwd = cwd
    session.mcpServers = mcpServers
    return session
  }

  fork(id: string, cwd: string, mcpServers: readonly McpServer[]): DemoSession {
    return this.#add(forkOf(this.#find(id), cwd, mcpServers))
  }

  save(session: DemoSession): void {
    session.updatedAt = new Date().toISOString()
    this.#files.put(session)
  }

  close(id: string): void {
    const session = this.get(id)
    session.running?.abort(new Error('the session was closed'))
    this.#open.delete(id)
  }

  /** Returns a page of sessions, newest first; the cursor is an offset. */
  list(
    cwd: string | undefined,
    cursor: string | undefined,
  ): { sessions: SessionInfo[]; nextCursor?: string } {
    const all = new Map(
      [...this.#files.all(), ...this.#open.values()].map((session) => [session.id, session]),
    )
    const found = [...all.values()]
      .filter((session) => cwd === undefined || session.cwd === cwd)
      .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    const from = Number(cursor ?? 0)
    if (!Number.isSafeInteger(from) || from < 0) throw RequestError.invalidParams({ cursor })
    const sessions = found.slice(from, from + pageSize).map(infoOf)
    return from + pageSize < found.length ? { sessions, nextCursor: String(from + pageSize) } : { sessions }
  }

  #find(id: string): StoredSession {
    const session = this.#open.get(id) ?? this.#files.get(id)
    if (session === undefined) throw RequestError.sessionNotFound(id)
    return session
  }

  #add(session: DemoSession): DemoSession {
    this.#open.set(session.id, session)
    this.save(session)
    return session
  }
}

function infoOf({ id, cwd, title, updatedAt }: StoredSession): SessionInfo {
  return { sessionId: id, cwd, updatedAt, ...(title === undefined ? {} : { title }) }
}
