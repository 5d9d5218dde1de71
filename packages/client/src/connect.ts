import { VitrineClient } from './vitrine-client.ts'
import { Wire, type WireOptions } from './wire/wire.ts'

export type ConnectOptions = WireOptions

/**
 * A daemon, over HTTP. Nothing is sent yet.
 *
 * @example
 * const client = connect({ url: 'http://127.0.0.1:8700', token })
 * const sandbox = await client.create()
 * const { stdout } = await sandbox.exec('uname -a')
 */
export function connect(options: ConnectOptions): VitrineClient {
  return new VitrineClient(new Wire(options))
}
