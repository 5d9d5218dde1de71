import { fromProblem, VitrineError } from '@vitrine/protocol'
import { readNote } from '../serve/daemon-file.ts'
import { dataFolder } from '../serve/data-folder.ts'

/** How a daemon is reached. */
export interface DaemonAddress {
  readonly url: string
  readonly token?: string
}

interface Known {
  readonly sandboxes: readonly { readonly id: string }[]
  readonly default?: string
}

/** The one that was named, or the one of a data directory. */
export function daemonAddress(flags: { url?: string; token?: string; data?: string }): DaemonAddress {
  const said = flags.token ?? (process.env.VITRINE_TOKEN || undefined)
  if (flags.url !== undefined) return { url: flags.url, ...(said !== undefined && { token: said }) }
  const data = dataFolder(flags.data)
  const note = readNote(data)
  if (note === undefined) throw noDaemon(`No daemon runs on ${data}.`)
  const token = flags.token ?? note.token
  return { url: note.url, ...(token !== undefined && { token }) }
}

/** What it has: whether it is there, and whether the token is right, is found out once and not retried for ever. */
export async function sandboxesOf({ url, token }: DaemonAddress): Promise<Known> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  let response: Response
  let answer: unknown
  try {
    response = await fetch(new URL('/v1/sandboxes', url), { headers, signal: AbortSignal.timeout(10_000) })
    answer = await response.json()
  } catch (error) {
    throw noDaemon(`No daemon answers at ${url}.`, error)
  }
  if (!response.ok) throw fromProblem(answer)
  return answer as Known
}

function noDaemon(what: string, cause?: unknown): VitrineError {
  return new VitrineError(
    'connection_failed',
    `${what} Start one with "vitrine serve" or "vitrine up", or name another with --url or --data.`,
    cause === undefined ? {} : { cause },
  )
}
