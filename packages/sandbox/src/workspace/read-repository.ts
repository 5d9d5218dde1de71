import { addressKind } from '@vitrine/egress'
import type { GitRepository } from '@vitrine/protocol'
import { type FieldPath, invalid } from './invalid.ts'

export interface PlannedRepository {
  readonly url: string
  readonly ref: GitRef | undefined
  /** The whole history if undefined. */
  readonly depth: number | undefined
  readonly credentials: GitCredentials | undefined
}

export interface GitRef {
  readonly kind: 'name' | 'commit'
  readonly text: string
}

export interface GitCredentials {
  readonly username: string
  readonly token: string
  /** The only origin that gets them: scheme, host and port. */
  readonly origin: string
}

/** Checks what the schema cannot: the URL, whether git accepts the ref, and which origin gets the credentials. */
export function readRepository(field: FieldPath, repository: GitRepository): PlannedRepository {
  const { url, ref, depth = 1, credentials } = repository
  const parsed = URL.parse(url)
  if (/[\s\p{Cc}]/u.test(url))
    throw invalid(`${field}.url`, 'expected a URL without white space or control characters.')
  // The message does not show the URL, since its password would end up in logs.
  if (parsed !== null && (parsed.password !== '' || (isWeb(parsed) && parsed.username !== '')))
    throw invalid(`${field}.url`, 'the URL contains a user name or password; pass them as `credentials`.')
  return {
    url,
    ref: ref === undefined ? undefined : readRef(`${field}.ref`, ref),
    depth: depth === 'full' ? undefined : depth,
    credentials: credentials && readCredentials(`${field}.credentials`, credentials, parsed),
  }
}

function readRef(field: FieldPath, text: string): GitRef {
  // Git's rules for ref names, without anything that git would parse as an option or as a range.
  if (/^[-+]|[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/$|\.$/u.test(text))
    throw invalid(
      field,
      `${JSON.stringify(text)} is not a valid name of a branch or tag, nor the sha of a commit.`,
    )
  return { kind: /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text) ? 'commit' : 'name', text }
}

function readCredentials(
  field: FieldPath,
  { username = 'git', token }: NonNullable<GitRepository['credentials']>,
  url: URL | null,
): GitCredentials {
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (url === null || !safe)
    throw invalid(field, 'credentials are sent only over https or to localhost: change the url.')
  return { username, token, origin: url.origin }
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || addressKind(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
