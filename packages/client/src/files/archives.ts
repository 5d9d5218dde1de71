import type { ArchiveOptions, ByteStream, Unpacked } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson } from '../http/request.ts'
import { requestBody } from '../http/request-body.ts'

type Archive = ByteStream | Uint8Array

/** Uploads an archive into a directory, or extracts one; `extract` without bytes extracts the file at `path`. */
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
    ...((how === 'archive' || archive !== undefined) && { bytes: requestBody('archive', archive) }),
    signal,
  })
}
