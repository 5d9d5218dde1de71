import { readdir, readFile, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import * as z from 'zod/mini'

/** Marks a folder as a complete installation: it is written before the folder is renamed to its final path. */
export const markerName = 'vitrine-agent.json'

const markerSchema = z.object({
  name: z.string(),
  version: z.string(),
  packages: z.array(z.object({ name: z.string(), version: z.string() })),
  installedAt: z.string(),
})

export type Marker = z.infer<typeof markerSchema>

/** An installed agent. */
export interface Installation extends Readonly<Marker> {
  /** Its folder. */
  readonly path: string
}

/** The folder of a version of an agent, installed or not. */
export function installationFolder(cache: string, name: string, version: string): string {
  for (const [what, value] of Object.entries({ name, version })) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(value))
      throw new VitrineError(
        'argument_invalid',
        `${what}: expected letters, digits, ".", "_", "+" and "-", got ${shown(value)}.`,
      )
  }
  return join(cache, name, version)
}

/**
 * The most recently requested installed version of an agent; undefined when none is installed.
 *
 * @example
 * const found = await installed(cache, 'claude')
 */
export async function installed(cache: string, name: string): Promise<Installation | undefined> {
  const folder = join(cache, name)
  const versions = await readdir(folder).catch(() => [])
  const found = await Promise.all(versions.map((version) => readDated(join(folder, version))))
  return found
    .filter((one) => one !== undefined)
    .toSorted((a, b) => b.requestedAt - a.requestedAt)
    .find(({ installation }) => installation.name === name)?.installation
}

export async function readInstallation(path: string): Promise<Installation | undefined> {
  return (await readDated(path))?.installation
}

/** Makes this version the most recently requested one; does nothing when the cache is read-only. */
export async function markRequested({ path }: Installation): Promise<void> {
  const now = new Date()
  await utimes(join(path, markerName), now, now).catch(() => undefined)
}

async function readDated(path: string) {
  try {
    const file = join(path, markerName)
    const { mtimeMs } = await stat(file)
    const read = markerSchema.safeParse(JSON.parse(await readFile(file, 'utf8')))
    return read.success ? { requestedAt: mtimeMs, installation: { ...read.data, path } } : undefined
  } catch {
    return undefined
  }
}
