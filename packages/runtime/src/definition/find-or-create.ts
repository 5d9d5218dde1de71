import {
  type CreateSandboxOptions,
  isVitrineError,
  type Sandbox,
  type SandboxClient,
  type SandboxInfo,
  VitrineError,
} from '@vitrine/protocol'

const keyLabel = 'definition.key'
const generationLabel = 'definition.generation'

export interface KeyedSandbox {
  readonly client: SandboxClient
  readonly key: string
  readonly signal?: AbortSignal
  readonly secrets?: Readonly<Record<string, string>>
}

/** How often another caller may create or destroy the sandbox meanwhile. */
const attempts = 20

/**
 * The one sandbox of a key. Its id is made of the key, and a host has one sandbox of an id, so that of two callers, also in
 * two processes, one creates it and the other gets it. A destroyed one is followed by the next generation, with another id.
 */
export async function findOrCreate(
  keyed: KeyedSandbox,
  options: Omit<CreateSandboxOptions, 'id' | 'signal'>,
): Promise<Sandbox> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const newest = await newestOf(keyed)
    if (newest !== undefined && newest.state !== 'destroyed') {
      const sandbox = await attached(keyed, newest)
      if (sandbox !== undefined) return sandbox
    }
    const sandbox = await created(keyed, options, newest === undefined ? 1 : generationOf(newest) + 1)
    if (sandbox !== undefined) return sandbox
  }
  throw new VitrineError(
    'sandbox_exists',
    `Other callers created and destroyed the sandbox of this definition ${attempts} times meanwhile.`,
  )
}

/** The sandbox of a key if there is one. */
export async function findExisting(keyed: KeyedSandbox): Promise<Sandbox | undefined> {
  const newest = await newestOf(keyed)
  if (newest === undefined || newest.state === 'destroyed') return undefined
  return attached(keyed, newest)
}

/** The newest sandbox of a key, also a destroyed one. */
export async function newestOf({ client, key }: KeyedSandbox): Promise<SandboxInfo | undefined> {
  const infos = await client.list({ state: 'all', labels: { [keyLabel]: key } })
  return [...infos].sort((one, other) => generationOf(other) - generationOf(one))[0]
}

/** Undefined if it was destroyed meanwhile, or its workspace is gone. */
async function attached(
  { client, signal, secrets }: KeyedSandbox,
  { id }: SandboxInfo,
): Promise<Sandbox | undefined> {
  try {
    return await client.attach(id, { ...(signal && { signal }), ...(secrets && { secrets }) })
  } catch (error) {
    if (!isGone(error)) throw error
    // One whose workspace is missing is on record as stopped, and would be found again.
    await client.destroy(id).catch((cause: unknown) => {
      if (!isGone(cause)) throw cause
    })
    return undefined
  }
}

function isGone(error: unknown): boolean {
  return isVitrineError(error) && (error.code === 'sandbox_destroyed' || error.code === 'not_found')
}

/** Undefined if another caller creates it. */
async function created(
  { client, key, signal, secrets }: KeyedSandbox,
  { labels, ...options }: Omit<CreateSandboxOptions, 'id' | 'signal'>,
  generation: number,
): Promise<Sandbox | undefined> {
  try {
    return await client.create({
      ...options,
      id: `def_${key.slice(0, 32)}_${generation}`,
      labels: { ...labels, [keyLabel]: key, [generationLabel]: `${generation}` },
      ...(signal && { signal }),
      ...(secrets && { secrets }),
    })
  } catch (error) {
    if (isVitrineError(error) && error.code === 'sandbox_exists') return undefined
    throw error
  }
}

function generationOf({ labels }: SandboxInfo): number {
  return Number(labels[generationLabel] ?? 0)
}
