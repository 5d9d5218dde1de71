import type { Unpacked } from '@vitrine/protocol'
import type { TestedSandbox } from '../kit.ts'

/** One workspace becomes the other, without anything being held in between. */
export async function transfer(from: TestedSandbox, to: TestedSandbox): Promise<Unpacked> {
  return to.hydrate(await from.persist())
}
