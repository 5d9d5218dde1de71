import { isIPv6 } from 'node:net'

/** An IP address as a number and in its canonical spelling. */
export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
  readonly text: string
}

const numberForm = /^(?:0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)$/

/** Whether the last label is a number: resolvers treat such a text as an address, never as a name. */
export function endsInNumber(host: string): boolean {
  return /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(host)
}

/** Parses every spelling that `inet_aton` accepts, in lower case: `127.0.0.1`, `127.1`, `0x7f000001`, `017700000001`. */
export function readIPv4(text: string): Address | undefined {
  const parts = text.split('.')
  if (parts.length > 4 || !parts.every((part) => part.length <= 16 && numberForm.test(part))) return undefined
  const numbers = parts.map((part) => BigInt(/^0[0-7]/.test(part) ? `0o${part}` : part))
  const last = numbers.pop() ?? 0n
  if (numbers.some((number) => number > 255n) || last >= 1n << BigInt(8 * (4 - numbers.length)))
    return undefined
  return ipv4(numbers.reduce((value, number, index) => value | (number << BigInt(24 - 8 * index)), last))
}

/** Parses an address without brackets and zone. An IPv4-mapped address (`::ffff:127.0.0.1`) becomes IPv4. */
export function readIPv6(text: string): Address | undefined {
  if (!isIPv6(text) || text.includes('%')) return undefined
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const [left = '', right] = canonical.split('::')
  const before = groups(left)
  const after = groups(right ?? '')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0n)
  const value = [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) | group, 0n)
  return value >> 32n === 0xffffn ? ipv4(value & 0xffff_ffffn) : { family: 6, value, text: canonical }
}

/** Parses an address as a resolver prints it, ignoring a zone, which names only the interface. */
export function readResolved(text: string): Address | undefined {
  const [bare = ''] = text.split('%')
  return bare.includes(':') ? readIPv6(bare) : readIPv4(bare)
}

export function ipv4(value: bigint): Address {
  const text = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  return { family: 4, value, text }
}

function groups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`))
}
