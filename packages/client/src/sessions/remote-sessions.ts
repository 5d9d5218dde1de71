import type { OpenSessionOptions, SessionInfo, Sessions } from '@vitrine/protocol'
import type { ObserverErrors } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson } from '../http/request.ts'
import { RemoteSession } from './remote-session.ts'
import type { SessionState } from './session-state.ts'

/** The sessions of one sandbox. */
export class RemoteSessions implements Sessions {
  readonly #http: HttpClient
  readonly #observerErrors: ObserverErrors

  /** `http` is scoped to the sandbox. */
  constructor(http: HttpClient, observerErrors: ObserverErrors) {
    this.#http = http
    this.#observerErrors = observerErrors
  }

  open(options: OpenSessionOptions): Promise<RemoteSession> {
    return this.#post(['sessions'], withFields('openSession', options, { resume: undefined }))
  }

  async list(): Promise<readonly SessionInfo[]> {
    return (
      await requestJson<{ sessions: SessionInfo[] }>(this.#http, {
        path: ['sessions'],
        query: { live: true },
      })
    ).sessions
  }

  async get(id: string): Promise<RemoteSession> {
    const state = await requestJson<SessionState>(this.#http, {
      path: ['sessions', id],
      query: { live: true },
    })
    return new RemoteSession(this.#http, state, this.#observerErrors)
  }

  resume(
    id: string,
    options: Partial<Omit<OpenSessionOptions, 'id' | 'agent'>> = {},
  ): Promise<RemoteSession> {
    return this.#post(['sessions', id, 'resume'], options)
  }

  resumeOrCreate(options: OpenSessionOptions & { readonly id: string }): Promise<RemoteSession> {
    return this.#post(['sessions'], withFields('resumeOrCreate', options, { resume: true } as const))
  }

  async #post(
    path: readonly string[],
    { signal, ...json }: Partial<OpenSessionOptions> & { readonly resume?: true | undefined },
  ): Promise<RemoteSession> {
    const state = await requestJson<SessionState>(this.#http, { method: 'POST', path, json, signal })
    return new RemoteSession(this.#http, state, this.#observerErrors)
  }
}
