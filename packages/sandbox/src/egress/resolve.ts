import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { addressRefusal } from './address.ts'
import type { AllowList } from './allow-list.ts'
import { readResolved } from './ip.ts'
import { showTarget, type Target } from './target.ts'
import { withTimeLimit } from './time-limit.ts'

export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>

export type Resolution =
  | { readonly kind: 'checked'; readonly addresses: readonly string[] }
  | { readonly kind: 'unresolvable'; readonly reason: string }
  | {
      readonly kind: 'refused'
      readonly reason: string
      readonly address?: string
      /** What its owner can do about it. */
      readonly remedy: string
    }

export const lookupAll: Lookup = (host) => systemLookup(host, { all: true, order: 'verbatim' })

/**
 * The addresses that may be dialed for a target. The name is asked for once and one bad address spoils
 * the name: who answers with a good and a bad one does not mean well.
 */
export async function resolveTarget(
  target: Target,
  { allow, lookup, dialMs }: { allow: AllowList; lookup: Lookup; dialMs: number },
  signal: AbortSignal,
): Promise<Resolution> {
  if (!allow.has(target))
    return { kind: 'refused', reason: 'it is not on the allow-list', remedy: listing(target) }
  if (isIP(target.host) !== 0) return { kind: 'checked', addresses: [target.host] }
  let found: string[]
  try {
    found = Array.from(await withTimeLimit(dialMs, signal, lookup(target.host)), ({ address }) => address)
  } catch (error) {
    return { kind: 'unresolvable', reason: `the name could not be resolved: ${shortReason(error)}` }
  }
  for (const address of found) {
    const reason = addressRefusal(target, address, allow)
    if (reason === undefined) continue
    const host = readResolved(address)?.text
    if (host === undefined) return { kind: 'refused', reason, remedy: 'Mend the resolver.' }
    return { kind: 'refused', reason, address: host, remedy: listing({ host, port: target.port }) }
  }
  const addresses = found.flatMap((address) => readResolved(address)?.text ?? [])
  if (addresses.length === 0) return { kind: 'unresolvable', reason: 'the name has no address' }
  return { kind: 'checked', addresses: [...new Set(addresses)] }
}

function listing(target: Target): string {
  return `To allow it, add ${JSON.stringify(showTarget(target))} to the allow-list of this sandbox.`
}

/** `ENOTFOUND` says more, and gives away less, than a whole message. */
export function shortReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
