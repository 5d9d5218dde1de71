import type { OnObserverError } from '@vitrine/protocol'
import { HttpClient } from '../http/http-client.ts'
import { checkKeys } from '../http/options.ts'
import { VitrineClient } from '../vitrine-client.ts'
import { DaemonProcess } from './daemon-process.ts'

export interface StartOptions {
  /** The command, to which `--json` and the options below are appended; default `vitrine serve --port 0`. */
  readonly command?: readonly string[]
  /** The data directory. */
  readonly data?: string
  /** The workspace of the default sandbox. */
  readonly root?: string
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Called for each error of an observer, as for `connect`. */
  readonly onObserverError?: OnObserverError
}

/**
 * Starts a daemon for this client. It ends with `close()`, and when this process exits.
 *
 * @example
 * await using client = await start()
 * const sandbox = await client.default()
 */
export async function start(options: StartOptions = {}): Promise<VitrineClient> {
  checkKeys('start', options, {
    command: true,
    data: true,
    root: true,
    env: true,
    signal: true,
    onObserverError: true,
  })
  const { command = ['vitrine', 'serve', '--port', '0'], data, root, env = {}, signal } = options
  const daemon = new DaemonProcess(
    [
      ...command,
      '--json',
      ...(data === undefined ? [] : ['--data', data]),
      ...(root === undefined ? [] : ['--root', root]),
    ],
    env,
  )
  try {
    const { url, token } = await daemon.endpoint(signal)
    const { onObserverError } = options
    const http = new HttpClient({
      url,
      ...(token !== undefined && { token }),
      ...(onObserverError && { onObserverError }),
    })
    return new VitrineClient(http, () => daemon.stop())
  } catch (error) {
    await daemon.stop()
    throw error
  }
}
