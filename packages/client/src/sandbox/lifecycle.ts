import { type Command, isVitrineError, type Lifecycle, VitrineError } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { requestJson, requestVoid } from '../http/request.ts'

/** The wire is at the sandbox. */
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
      // What is gone does not run: that is the answer, and no failure.
      if (isVitrineError(error) && error.code === 'sandbox_destroyed') return false
      throw error
    }
  }

  /** A command that runs in the sandbox: a function could not be sent there. */
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
