import type { Unpacked } from '@vitrine/protocol'
import type { TestedSandbox } from '../setting.ts'

/** One workspace becomes the other, without anything being held in between. */
export async function carry(from: TestedSandbox, to: TestedSandbox): Promise<Unpacked> {
  return to.hydrate(await from.persist())
}
