import type { EncodedBytes, SandboxRecord } from '@vitrine/protocol/records'
import type { WorkspaceManifest } from '@vitrine/sandbox'

type StoredManifest = NonNullable<SandboxRecord['workspace']>

/** Encodes a manifest for a record: JSON has no bytes, so they become base64. */
export function storedManifest(workspace: WorkspaceManifest): StoredManifest {
  return withContents<string | Uint8Array, string | EncodedBytes>(workspace, (content) =>
    content instanceof Uint8Array ? { base64: Buffer.from(content).toString('base64') } : content,
  )
}

/** Decodes a stored manifest. */
export function readStoredManifest(stored: StoredManifest): WorkspaceManifest {
  return withContents<string | EncodedBytes, string | Uint8Array>(stored, (content) =>
    typeof content === 'string' ? content : new Uint8Array(Buffer.from(content.base64, 'base64')),
  )
}

/** The parts of a manifest that every start needs; the rest only prepares a new workspace. */
export function lastingManifest({ env, users, groups }: StoredManifest): StoredManifest {
  return { ...(env && { env }), ...(users && { users }), ...(groups && { groups }) }
}

/** Changes the content of every file. A manifest that is not checked yet may hold other values, which stay. */
function withContents<From, To>(
  { files, ...rest }: WorkspaceManifest<From>,
  change: (content: From) => To,
): WorkspaceManifest<To> {
  if (typeof files !== 'object' || files === null)
    return { ...rest, ...(files === undefined ? {} : { files: files as never }) }
  const changed = Object.entries(files).map(([path, file]) => [
    path,
    hasContent<From>(file) ? { ...file, content: change(file.content) } : change(file),
  ])
  return { ...rest, files: Object.fromEntries(changed) }
}

function hasContent<Content>(file: unknown): file is { readonly content: Content } {
  return typeof file === 'object' && file !== null && 'content' in file
}
