import { HttpClient, type HttpClientOptions } from './http/http-client.ts'
import { checkKeys } from './http/options.ts'
import { VitrineClient } from './vitrine-client.ts'

export type ConnectOptions = HttpClientOptions

/**
 * Creates a client of a daemon. It sends no request yet.
 *
 * @example
 * const client = connect({ url: 'http://127.0.0.1:8700', token })
 * const sandbox = await client.create()
 * const { stdout } = await sandbox.exec('uname -a')
 */
export function connect(options: ConnectOptions): VitrineClient {
  checkKeys('connect', options, {
    url: true,
    token: true,
    headers: true,
    fetch: true,
    timeoutMs: true,
    onObserverError: true,
  })
  return new VitrineClient(new HttpClient(options))
}
