import { domainToASCII } from 'node:url'
import { endsInNumber, readIPv4, readIPv6 } from './ip.ts'

/** A host and a port in canonical form. An IPv6 host has no brackets here. */
export interface Target {
  readonly host: string
  readonly port: number
}

/** The reason why a text is not a valid target, phrased as the end of a sentence about it. */
export interface UnreadableTarget {
  readonly reason: string
}

const maxNameLength = 253
const maxLabelLength = 63
const maxTextLength = 1_024

const refusals: readonly (readonly [RegExp, string])[] = [
  [/\p{Cc}/u, 'it contains a control character'],
  [/\s/u, 'it contains white space'],
  [/\p{Cf}/u, 'it contains an invisible character'],
  [/@/, 'it names a user before the host'],
  [/:\/\//, 'it names a scheme'],
  [/[/?#\\]/, 'it contains a path'],
  [/\*/, 'it contains a wildcard'],
  [/%/, 'it contains a percent sign (percent-encoding or an IPv6 zone)'],
]

/**
 * Parses `host:port` in any spelling into its canonical form. An ambiguous text is rejected, never guessed.
 *
 * @example
 * readTarget('Registry.Example.:443') // { host: 'registry.example', port: 443 }
 * readTarget('[::ffff:7f00:1]:80') // { host: '127.0.0.1', port: 80 }
 * readTarget('user@host:80') // { reason: 'it names a user before the host' }
 */
export function readTarget(text: string, defaultPort?: number): Target | UnreadableTarget {
  if (text.length > maxTextLength) return { reason: 'it is longer than any host and port' }
  const refusal = refusals.find(([pattern]) => pattern.test(text))
  if (refusal) return { reason: refusal[1] }
  const [, bracketed, plain, digits] = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(text) ?? []
  const host = bracketed === undefined ? readHost(plain) : readBracketed(bracketed)
  if (typeof host !== 'string') return host
  const port = digits === undefined ? defaultPort : readPort(digits)
  if (port === undefined) return { reason: 'it has no port from 1 to 65535' }
  return { host, port }
}

/** The canonical `host:port` text, used to list, compare and show a target. */
export function showTarget({ host, port }: Target): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function readBracketed(text: string): string | UnreadableTarget {
  return readIPv6(text)?.text ?? { reason: 'its brackets do not contain an IPv6 address' }
}

function readHost(text: string | undefined): string | UnreadableTarget {
  if (text === undefined) return { reason: 'it is not one host and one port; an IPv6 address needs brackets' }
  const ascii = /^\p{ASCII}*$/u.test(text) ? text.toLowerCase() : domainToASCII(text)
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii
  if (name === '') return { reason: 'it has no valid host' }
  if (endsInNumber(name))
    return readIPv4(name)?.text ?? { reason: 'its host is a number that is not an address' }
  const labels = name.split('.')
  if (labels.includes('')) return { reason: 'its host has an empty label' }
  if (name.length > maxNameLength || labels.some((label) => label.length > maxLabelLength))
    return { reason: 'its host is too long' }
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label)))
    return { reason: 'its host contains a character that is not allowed in a host name' }
  return name
}

function readPort(digits: string): number | undefined {
  const port = /^[1-9][0-9]{0,4}$/.test(digits) ? Number(digits) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}
