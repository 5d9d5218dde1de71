import type { ByteSource } from './byte-source.ts'
import { compress } from './compression.ts'
import type { Handle } from './directories/handle.ts'
import { type PackOptions, pack } from './pack.ts'
import type { TarScheme } from './scheme.ts'
import type { StreamSource } from './streams/closing-stream.ts'

/** Packs a directory as a tar on demand. `close()` stops the packing and closes all files. */
export function packSource(directory: Handle, scheme: TarScheme, options: PackOptions = {}): StreamSource {
  const packed = pack(directory, options)
  const chunks = scheme === 'tar' ? packed : compress(pullOf(packed), scheme)
  return {
    lent: scheme === 'tar',
    next: async () => (await chunks.next()).value ?? undefined,
    close: async () => void (await chunks.return(undefined)),
  }
}

function pullOf(chunks: AsyncGenerator<Uint8Array, void>): ByteSource {
  return {
    next: async () => (await chunks.next()).value ?? undefined,
    cancel: async () => void (await chunks.return()),
  }
}
