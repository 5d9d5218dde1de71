import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { settledWithin, systemErrorCode } from '@vitrine/protocol/primitives'
import { addressRefusal } from './address.ts'
import type { AllowList } from './allow-list.ts'
import { readResolved } from './ip.ts'
import { showTarget, type Target } from './target.ts'

export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>

export type Resolution =
  | { readonly kind: 'checked'; readonly addresses: readonly string[] }
  | { readonly kind: 'unresolvable'; readonly reason: string }
  | {
      readonly kind: 'refused'
      readonly reason: string
      readonly address?: string
      /** The entry that would allow the target; undefined if the resolver returned an invalid address. */
      readonly allow?: string
    }

export const lookupAll: Lookup = (host) => systemLookup(host, { all: true, order: 'verbatim' })

/**
 * Resolves a target to the addresses that may be dialed. The name is looked up once, and one forbidden address refuses
 * the whole name: a mix of allowed and forbidden addresses indicates DNS rebinding.
 */
export async function resolveTarget(
  target: Target,
  { allow, lookup, dialMs }: { allow: AllowList; lookup: Lookup; dialMs: number },
  signal: AbortSignal,
): Promise<Resolution> {
  if (!allow.has(target))
    return { kind: 'refused', reason: 'it is not on the allow-list', allow: showTarget(target) }
  if (isIP(target.host) !== 0) return { kind: 'checked', addresses: [target.host] }
  let found: string[]
  try {
    const looking = lookup(target.host)
    if (!(await settledWithin(looking, dialMs, { signal })))
      throw new Error(signal.aborted ? 'the client went away' : `no response within ${dialMs} ms`)
    found = Array.from(await looking, ({ address }) => address)
  } catch (error) {
    return { kind: 'unresolvable', reason: `the name could not be resolved: ${shortReason(error)}` }
  }
  for (const address of found) {
    const reason = addressRefusal(target, address, allow)
    if (reason === undefined) continue
    const host = readResolved(address)?.text
    if (host === undefined) return { kind: 'refused', reason }
    return { kind: 'refused', reason, address: host, allow: showTarget({ host, port: target.port }) }
  }
  const addresses = found.flatMap((address) => readResolved(address)?.text ?? [])
  if (addresses.length === 0) return { kind: 'unresolvable', reason: 'the name has no address' }
  return { kind: 'checked', addresses: [...new Set(addresses)] }
}

/** Prefers an error's code: `ENOTFOUND` is clearer than the message and reveals less. */
export function shortReason(error: unknown): string {
  return systemErrorCode(error) ?? (error instanceof Error ? error.message : String(error))
}
