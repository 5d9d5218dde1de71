import type { Row } from '../report.ts'
import { openai } from './openai.ts'
import type { Peer } from './peer.ts'
import { tanstack } from './tanstack.ts'

export const peers = { tanstack, openai }

export type PeerName = keyof typeof peers

export const peerNames: readonly PeerName[] = ['tanstack', 'openai']

/** Opens a peer, or returns the reason why it is not available. */
export async function openPeer(name: PeerName, folder: string): Promise<Peer | { readonly missing: string }> {
  try {
    return await peers[name](folder)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { missing: `peer not available: ${reason.split('\n')[0]}` }
  }
}

/** The row of a comparison that could not run; it counts as not held. */
export function missingRow(what: string, missing: string): Row {
  return { what, measured: '', against: missing, bar: '', holds: false }
}
