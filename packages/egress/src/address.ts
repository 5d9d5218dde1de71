import type { AllowList } from './allow-list.ts'
import { type Address, ipv4, readResolved } from './ip.ts'
import type { Target } from './target.ts'

export type AddressKind =
  | 'loopback'
  | 'link-local'
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  | 'broadcast'
  | 'reserved'
  | 'private'
  | 'cgnat'
  | 'public'
  | 'unreadable'

type Range = readonly [cidr: string, kind: AddressKind]

// Metadata services are inside larger ranges, so they come first: the first matching range counts.
const ranges4 = [
  ['169.254.169.254/32', 'metadata'],
  ['169.254.170.2/32', 'metadata'],
  ['100.100.100.200/32', 'metadata'],
  ['168.63.129.16/32', 'metadata'],
  ['192.0.0.192/32', 'metadata'],
  ['255.255.255.255/32', 'broadcast'],
  ['0.0.0.0/8', 'unspecified'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['10.0.0.0/8', 'private'],
  ['172.16.0.0/12', 'private'],
  ['192.168.0.0/16', 'private'],
  ['100.64.0.0/10', 'cgnat'],
] as const satisfies Range[]

const ranges6 = [
  ['fd00:ec2::254/128', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
  ['fec0::/10', 'private'],
  ['fc00::/7', 'private'],
  // The position of the embedded IPv4 address depends on the network (local NAT64) or is obfuscated (Teredo).
  ['64:ff9b:1::/48', 'reserved'],
  ['2001::/32', 'reserved'],
] as const satisfies Range[]

/** IPv6 ranges that embed an IPv4 address, with its bit offset. IPv4-mapped addresses are parsed as IPv4 already. */
const wrappers = [
  ['2002::/16', 80n],
  ['64:ff9b::/96', 0n],
  ['::ffff:0:0:0/96', 0n],
  ['::/96', 0n],
] as const

/** Classifies an address. An IPv6 address that embeds an IPv4 address has the kind of the embedded one. */
export function addressKind(text: string): AddressKind {
  const address = readResolved(text)
  return address === undefined ? 'unreadable' : kindOf(address)
}

function kindOf(address: Address): AddressKind {
  const ranges: readonly Range[] = address.family === 4 ? ranges4 : ranges6
  const found = ranges.find(([cidr]) => isWithin(address, cidr))
  if (found) return found[1]
  const wrapper = address.family === 6 && wrappers.find(([cidr]) => isWithin(address, cidr))
  return wrapper ? kindOf(ipv4((address.value >> wrapper[1]) & 0xffff_ffffn)) : 'public'
}

/**
 * Returns why a listed target must not be dialed at an address that its name resolved to; undefined if it may.
 * Listed names may resolve to private ranges, so that hosts of an intranet can be allowed.
 */
export function addressRefusal(target: Target, text: string, allow: AllowList): string | undefined {
  const kind = addressKind(text)
  if (kind === 'public' || kind === 'private' || kind === 'cgnat') return undefined
  const address = readResolved(text)
  if (address !== undefined && allow.has({ host: address.text, port: target.port })) return undefined
  if (kind === 'loopback' && /(?:^|\.)localhost$/.test(target.host)) return undefined
  return `the name resolves to the ${kind} address ${address?.text ?? JSON.stringify(text)}, which is not listed itself`
}

function isWithin({ family, value }: Address, cidr: string): boolean {
  const [base = '', prefix] = cidr.split('/')
  const start = readResolved(base)
  const free = BigInt((family === 4 ? 32 : 128) - Number(prefix))
  return start !== undefined && start.family === family && value >> free === start.value >> free
}
