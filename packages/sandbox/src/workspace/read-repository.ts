import { addressKind } from '../reach/address.ts'
import { fieldsOf, invalid, textOf, type Where, wholeNumber } from './fields.ts'

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

const maxDepth = 0x7fff_ffff
/** Shorter ones cannot be kept out of the journal. */
const shortestToken = 4

export function readRepository(where: Where, value: unknown): PlannedRepository {
  const fields = fieldsOf(where, value, ['url', 'ref', 'depth', 'credentials'])
  const url = textOf(`${where}.url`, fields.url)
  const parsed = URL.parse(url)
  if (/[\s\p{Cc}]/u.test(url)) throw invalid(`${where}.url`, 'expected an address without spaces.')
  // Not shown: it would be in a log by now.
  if (parsed !== null && (parsed.password !== '' || (isWeb(parsed) && parsed.username !== '')))
    throw invalid(`${where}.url`, "it holds somebody's name or password; give them as `credentials`.")
  return {
    url,
    ref: fields.ref === undefined ? undefined : readRef(`${where}.ref`, fields.ref),
    depth: readDepth(`${where}.depth`, fields.depth),
    credentials:
      fields.credentials === undefined
        ? undefined
        : readCredentials(`${where}.credentials`, fields.credentials, parsed),
  }
}

function readRef(where: Where, value: unknown): Ref {
  const text = textOf(where, value)
  // What git allows as a name, and nothing that it would read as an option or as two refs.
  if (/^[-+]|[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/$|\.$/u.test(text))
    throw invalid(where, `${JSON.stringify(text)} is neither a branch, a tag nor the sha of a commit.`)
  return { kind: /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text) ? 'commit' : 'name', text }
}

function readDepth(where: Where, value: unknown): number | undefined {
  if (value === undefined) return 1
  if (value === 'full') return undefined
  if (typeof value === 'string') throw invalid(where, "expected a number or 'full'.")
  return wholeNumber(where, value, 1, maxDepth)
}

function readCredentials(where: Where, value: unknown, url: URL | null): Credentials {
  const { username = 'git', token } = fieldsOf(where, value, ['username', 'token'])
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (url === null || !safe)
    throw invalid(where, 'they are sent over https only, or to this machine: change the url.')
  const checked = { username: textOf(`${where}.username`, username), token: textOf(`${where}.token`, token) }
  if (checked.token.length < shortestToken)
    throw invalid(`${where}.token`, `expected ${shortestToken} characters or more.`)
  // Git's helpers speak in lines.
  for (const [name, text] of Object.entries(checked))
    if (/[\r\n]/.test(text)) throw invalid(`${where}.${name}`, 'it holds a line break.')
  return { ...checked, origin: url.origin }
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || addressKind(host.replace(/^\[|\]$/g, '')) === 'loopback'
}
