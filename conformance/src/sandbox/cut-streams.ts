import type { SandboxKitOptions } from './kit.ts'

/** The size of a stream that is cut: over a connection it must exceed everything that the buffers hold. */
export function largeBytes({ remote = false }: SandboxKitOptions, bytes: number): number {
  return remote ? 32 * 1024 ** 2 : bytes
}

/** Reads a cut stream once; over a connection, until the buffered chunks are consumed. Resolves if no read fails. */
export async function readCut(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { remote = false }: SandboxKitOptions,
): Promise<void> {
  let part = await reader.read()
  while (remote && !part.done) part = await reader.read()
}
