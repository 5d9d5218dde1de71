import { eventually } from '../waiting/within.ts'
import type { SandboxUnderTest } from './kit.ts'

let marks = 0

/** A sleep duration that is unique to one test, so that its processes can be found by their arguments. */
export function newMark(): string {
  marks += 1
  return `${90_000 + marks}.${String(process.pid).padStart(7, '0')}${Math.floor(Math.random() * 1e6)}`
}

/** Counts the processes with the mark in their arguments. */
export async function countMarked({ count, sandbox }: SandboxUnderTest, mark: string): Promise<number> {
  if (count !== undefined) return count(mark)
  const { stdout } = await sandbox.exec(['ps', '-eo', 'args'], { maxOutputBytes: 4_000_000 })
  return stdout.split('\n').filter((line) => line.includes(mark)).length
}

/** Waits until at least `count` processes with the mark run. */
export function waitForMarked(under: SandboxUnderTest, mark: string, count: number): Promise<void> {
  return eventually(`${count} processes with ${mark}`, async () => (await countMarked(under, mark)) >= count)
}

/** Waits until no process with the mark is left, for the 3 s that the guarantee allows. */
export function waitUntilGone(under: SandboxUnderTest, mark: string): Promise<void> {
  return eventually(`no process with ${mark}`, async () => (await countMarked(under, mark)) === 0, 3_000)
}
