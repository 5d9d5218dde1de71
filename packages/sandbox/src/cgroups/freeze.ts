import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { Group } from './group.ts'
import { waitUntil } from './wait-until.ts'

const freezers = {
  1: { file: 'freezer.state', freeze: 'FROZEN', thaw: 'THAWED', state: 'freezer.state', frozen: /^FROZEN$/m },
  2: { file: 'cgroup.freeze', freeze: '1', thaw: '0', state: 'cgroup.events', frozen: /^frozen 1$/m },
} as const

const freezingMs = 5_000

/** A group of version 1 is thawed after this many looks at it, each at most 20 ms after the other. */
const looksBetweenThaws = 10

/** Freezes every process of a group or none: on timeout, the group is thawed again. */
export async function freezeGroup(group: Group, timeoutMs = freezingMs): Promise<void> {
  const { file, freeze, state, frozen } = freezerOf(group)
  const write = () => writeFile(join(group.folder, file), freeze)
  await write()
  let looks = 0
  const isFrozen = async () => {
    if (frozen.test(await readFile(join(group.folder, state), 'utf8'))) return true
    looks += 1
    // A group of version 1 can stay in the state FREEZING for ever if a process forks meanwhile, until it is frozen anew.
    if (group.version === 1 && looks % looksBetweenThaws === 0) {
      await thawGroup(group)
      await write()
    }
    return false
  }
  try {
    await waitUntil(isFrozen, { timeoutMs, what: `Freezing ${group.folder}` })
  } catch (error) {
    await thawGroup(group)
    throw error
  }
}

export async function thawGroup(group: Group): Promise<void> {
  const { file, thaw } = freezerOf(group)
  await writeFile(join(group.folder, file), thaw)
}

function freezerOf({ version, folder, abilities }: Group): (typeof freezers)[1 | 2] {
  if (abilities.has('freeze')) return freezers[version]
  throw new VitrineError('unsupported', `The processes of ${folder} cannot be frozen on this machine.`)
}
