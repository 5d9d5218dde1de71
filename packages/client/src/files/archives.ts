import type { ArchiveOptions, Unpacked } from '@vitrine/protocol'
import { askJson } from '../wire/ask.ts'
import { withFields } from '../wire/options.ts'
import { outgoing } from '../wire/outgoing.ts'
import type { Wire } from '../wire/wire.ts'

type Archive = ReadableStream<Uint8Array> | Uint8Array

/** Sends an archive to be unpacked: into a directory, or where it lies. */
export async function unpack(
  wire: Wire,
  how: 'archive' | 'extract',
  path: string,
  archive: Archive | undefined,
  { signal, ...rest }: ArchiveOptions,
): Promise<Unpacked> {
  return askJson(wire, {
    method: how === 'archive' ? 'PUT' : 'POST',
    path: ['files', how],
    query: withFields(how === 'archive' ? 'upload' : 'extract', rest, { path }),
    ...((how === 'archive' || archive !== undefined) && { bytes: outgoing('archive', archive) }),
    signal,
  })
}
