import { fromProblem, VitrineError } from '@vitrine/protocol'
import { cloneDataFolder } from '../serve/clone-folder.ts'
import { dataFolder, readDaemonFile } from '../serve/daemon-file.ts'

/** The URL of a daemon and the token to call it with. */
export interface DaemonConnection {
  readonly url: string
  readonly token?: string
}

interface DaemonSandboxes {
  readonly sandboxes: readonly { readonly id: string }[]
  readonly default?: string
}

/** The address from `--url` and `--token`, or from the file that the daemon wrote into its data directory. */
export function daemonAddress(flags: { url?: string; token?: string; data?: string }): DaemonConnection {
  if (flags.url !== undefined) {
    const token = flags.token ?? (process.env.VITRINE_TOKEN || undefined)
    return { url: flags.url, ...(token !== undefined && { token }) }
  }
  const data = dataFolder(flags.data)
  const ofClone = flags.data === undefined ? cloneDataFolder() : undefined
  const daemon = readDaemonFile(data) ?? (ofClone === undefined ? undefined : readDaemonFile(ofClone))
  if (daemon === undefined) throw noDaemon(`No daemon runs on ${data}.`)
  const token = flags.token ?? daemon.token
  return { url: daemon.url, ...(token !== undefined && { token }) }
}

/** The daemon's sandboxes. This first request is not retried, so an unreachable daemon or a wrong token fails at once. */
export async function fetchSandboxes({ url, token }: DaemonConnection): Promise<DaemonSandboxes> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  let response: Response
  let body: unknown
  try {
    response = await fetch(new URL('/v1/sandboxes', url), { headers, signal: AbortSignal.timeout(10_000) })
    body = await response.json()
  } catch (error) {
    throw noDaemon(`No daemon responds at ${url}.`, error)
  }
  if (!response.ok) throw fromProblem(body)
  return body as DaemonSandboxes
}

function noDaemon(message: string, cause?: unknown): VitrineError {
  return new VitrineError(
    'connection_failed',
    `${message} Start one with "vitrine serve" or "vitrine up", or choose another with --url or --data.`,
    cause === undefined ? {} : { cause },
  )
}
