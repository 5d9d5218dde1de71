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

/** Freezes every process of a group or none: on timeout, the group is thawed again. */
export async function freezeGroup(group: Group, timeoutMs = freezingMs): Promise<void> {
  const { file, freeze, state, frozen } = freezerOf(group)
  await writeFile(join(group.folder, file), freeze)
  try {
    await waitUntil(async () => frozen.test(await readFile(join(group.folder, state), 'utf8')), {
      timeoutMs,
      what: `Freezing ${group.folder}`,
    })
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
