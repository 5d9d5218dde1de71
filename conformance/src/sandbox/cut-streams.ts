import type { SandboxKitOptions } from './kit.ts'

/** What breaks off must be larger than all that a connection holds. */
export function largeBytes({ remote = false }: SandboxKitOptions, bytes: number): number {
  return remote ? 32 * 1024 ** 2 : bytes
}

/** The next read of what was cut; over a connection the one behind all that was on its way. Resolves if none fails. */
export async function readCut(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { remote = false }: SandboxKitOptions,
): Promise<void> {
  let part = await reader.read()
  while (remote && !part.done) part = await reader.read()
}
