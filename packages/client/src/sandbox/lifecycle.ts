import { type Command, isVitrineError, type Lifecycle, VitrineError } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { requestJson, requestVoid } from '../http/request.ts'

/** The lifecycle of one sandbox. `http` is scoped to it. */
export class RemoteLifecycle implements Lifecycle {
  readonly #http: HttpClient

  constructor(http: HttpClient) {
    this.#http = http
  }

  start(): Promise<void> {
    return this.#post('start')
  }

  stop(): Promise<void> {
    return this.#post('stop')
  }

  shutdown(): Promise<void> {
    return this.#post('shutdown')
  }

  pause(): Promise<void> {
    return this.#post('pause')
  }

  resume(): Promise<void> {
    return this.#post('resume')
  }

  destroy(): Promise<void> {
    return requestVoid(this.#http, { method: 'DELETE', path: [] })
  }

  async running(): Promise<boolean> {
    try {
      return (await requestJson<{ running: boolean }>(this.#http, { path: ['running'] })).running
    } catch (error) {
      // A destroyed sandbox does not run; for this method that is a result, not an error.
      if (isVitrineError(error) && error.code === 'sandbox_destroyed') return false
      throw error
    }
  }

  /** Takes a command that runs in the sandbox: a function cannot be sent to the server. */
  async onBeforeStop(hook: (() => void | Promise<void>) | Command): Promise<void> {
    if (typeof hook === 'function')
      throw new VitrineError(
        'unsupported',
        'onBeforeStop: over HTTP a hook is a command, such as "npm run save"; a function cannot be sent.',
      )
    await this.#post('before-stop', { command: hook })
  }

  async skipOnPersist(path: string): Promise<string> {
    const request = { method: 'POST', path: ['skip-on-persist'], json: { path } } as const
    return (await requestJson<{ path: string }>(this.#http, request)).path
  }

  #post(path: string, json?: unknown): Promise<void> {
    return requestVoid(this.#http, { method: 'POST', path: [path], ...(json !== undefined && { json }) })
  }
}
