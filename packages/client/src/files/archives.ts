import type { ArchiveOptions, Unpacked } from '@vitrine/protocol'
import { requestJson } from '../wire/ask.ts'
import { withFields } from '../wire/options.ts'
import { outgoing } from '../wire/outgoing.ts'
import type { HttpClient } from '../wire/wire.ts'

type Archive = ReadableStream<Uint8Array> | Uint8Array

/** Sends an archive to be unpacked: into a directory, or where it lies. */
export async function unpack(
  http: HttpClient,
  how: 'archive' | 'extract',
  path: string,
  archive: Archive | undefined,
  { signal, ...rest }: ArchiveOptions,
): Promise<Unpacked> {
  return requestJson(http, {
    method: how === 'archive' ? 'PUT' : 'POST',
    path: ['files', how],
    query: withFields(how === 'archive' ? 'upload' : 'extract', rest, { path }),
    ...((how === 'archive' || archive !== undefined) && { bytes: outgoing('archive', archive) }),
    signal,
  })
}
