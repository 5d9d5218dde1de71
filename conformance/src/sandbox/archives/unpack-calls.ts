import type { Unpacked } from '@vitrine/protocol'
import type { TestedSandbox } from '../kit.ts'

export type Archive = Uint8Array | ReadableStream<Uint8Array>

/** One of the calls that unpack an archive. */
export interface UnpackCall {
  readonly name: string
  readonly op: 'upload' | 'extract' | 'hydrate_workspace'
  /** The directory that receives the members, relative to the workspace root. */
  readonly into: string
  send(sandbox: TestedSandbox, archive: Archive, options?: { signal?: AbortSignal }): Promise<Unpacked>
}

const upload: UnpackCall = {
  name: 'upload',
  op: 'upload',
  into: 'here',
  send: (sandbox, archive, options) => sandbox.files.upload('here', archive, options),
}

const extract: UnpackCall = {
  name: 'extract',
  op: 'extract',
  into: 'here',
  send: (sandbox, archive, options) => sandbox.files.extract('here/given.tar', archive, options),
}

const hydrate: UnpackCall = {
  name: 'hydrate',
  op: 'hydrate_workspace',
  into: '.',
  send: (sandbox, archive, options) => sandbox.hydrate(archive, options),
}

/** The calls that unpack a tar. */
export const unpackCalls: readonly UnpackCall[] = [upload, extract, hydrate]

/** The calls that keep the existing files. */
export const additiveCalls: readonly UnpackCall[] = [upload, extract]

export const extractZip: UnpackCall = {
  ...extract,
  name: 'extract of a zip',
  send: (sandbox, archive, options) => sandbox.files.extract('here/given.zip', archive, options),
}

export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.from(await new Response(stream).arrayBuffer())
}
