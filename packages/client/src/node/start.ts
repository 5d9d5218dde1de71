import { HttpClient } from '../http/http-client.ts'
import { checkKeys } from '../http/options.ts'
import { VitrineClient } from '../vitrine-client.ts'
import { DaemonProcess } from './daemon-process.ts'

export interface StartOptions {
  /** What is run, with `--json` and the options below behind it; default `vitrine serve --port 0`. */
  readonly command?: readonly string[]
  /** The data directory. */
  readonly data?: string
  /** The folder that the default sandbox works in. */
  readonly root?: string
  /** Beside the variables of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/**
 * Starts a daemon that belongs to the client: it ends with `close()`, and with this process.
 *
 * @example
 * await using client = await start()
 * const sandbox = await client.default()
 */
export async function start(options: StartOptions = {}): Promise<VitrineClient> {
  checkKeys('start', options, { command: true, data: true, root: true, env: true, signal: true })
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
    return new VitrineClient(new HttpClient({ url, ...(token !== undefined && { token }) }), () =>
      daemon.stop(),
    )
  } catch (error) {
    await daemon.stop()
    throw error
  }
}
