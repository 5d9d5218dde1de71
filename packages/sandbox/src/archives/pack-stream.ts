import type { Handle } from '../files/handle.ts'
import { compress } from './compression.ts'
import { type PackOptions, pack } from './pack.ts'
import type { Pull } from './pull.ts'
import type { TarScheme } from './scheme.ts'

/** A directory as a stream that anybody may hold on to. It is packed as it is read, and cancelling it closes everything. */
export function packStream(
  directory: Handle,
  scheme: TarScheme,
  options: PackOptions = {},
): ReadableStream<Uint8Array> {
  const chunks = pack(directory, options)
  return streamOf(scheme === 'tar' ? copies(chunks) : compress(pullOf(chunks), scheme))
}

function pullOf(chunks: AsyncGenerator<Uint8Array, void>): Pull {
  return {
    next: async () => (await chunks.next()).value ?? undefined,
    cancel: async () => void (await chunks.return()),
  }
}

async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk)
}

function streamOf(chunks: AsyncGenerator<Uint8Array, unknown>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
