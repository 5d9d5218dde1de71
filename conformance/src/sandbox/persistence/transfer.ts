import type { Unpacked } from '@vitrine/protocol'
import type { TestedSandbox } from '../kit.ts'

/** Streams one workspace into another without buffering it. */
export async function transfer(from: TestedSandbox, to: TestedSandbox): Promise<Unpacked> {
  return to.hydrate(await from.persist())
}
