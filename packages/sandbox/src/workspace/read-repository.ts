import type { GitRepository } from '@vitrine/protocol'
import { addressKind } from '../egress/address.ts'
import { invalid, type Where } from './invalid.ts'

export interface PlannedRepository {
  readonly url: string
  readonly ref: Ref | undefined
  /** All of the history without one. */
  readonly depth: number | undefined
  readonly credentials: Credentials | undefined
}

export interface Ref {
  readonly kind: 'name' | 'commit'
  readonly text: string
}

export interface Credentials {
  readonly username: string
  readonly token: string
  /** The only place they are given to: scheme, host and port. */
  readonly origin: string
}

/** What a schema cannot say about a repository: where it is, what git would make of its ref, who gets a token. */
export function readRepository(where: Where, repository: GitRepository): PlannedRepository {
  const { url, ref, depth = 1, credentials } = repository
  const parsed = URL.parse(url)
  if (/[\s\p{Cc}]/u.test(url)) throw invalid(`${where}.url`, 'expected an address without spaces.')
  // Not shown: it would be in a log by now.
  if (parsed !== null && (parsed.password !== '' || (isWeb(parsed) && parsed.username !== '')))
    throw invalid(`${where}.url`, "it holds somebody's name or password; give them as `credentials`.")
  return {
    url,
    ref: ref === undefined ? undefined : readRef(`${where}.ref`, ref),
    depth: depth === 'full' ? undefined : depth,
    credentials: credentials && readCredentials(`${where}.credentials`, credentials, parsed),
  }
}

function readRef(where: Where, text: string): Ref {
  // What git allows as a name, and nothing that it would read as an option or as two refs.
  if (/^[-+]|[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/$|\.$/u.test(text))
    throw invalid(where, `${JSON.stringify(text)} is neither a branch, a tag nor the sha of a commit.`)
  return { kind: /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text) ? 'commit' : 'name', text }
}

function readCredentials(
  where: Where,
  { username = 'git', token }: NonNullable<GitRepository['credentials']>,
  url: URL | null,
): Credentials {
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (url === null || !safe)
    throw invalid(where, 'they are sent over https only, or to this machine: change the url.')
  return { username, token, origin: url.origin }
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || addressKind(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
