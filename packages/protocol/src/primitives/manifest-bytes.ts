import type { EncodedBytes, WorkspaceManifest } from '../sandbox/manifest.ts'

/** A manifest as JSON: the bytes of its files become base64. */
export function encodedManifest(
  workspace: WorkspaceManifest,
  toBase64: (bytes: Uint8Array) => string,
): WorkspaceManifest<string | EncodedBytes> {
  return withContents<string | Uint8Array, string | EncodedBytes>(workspace, (content) =>
    content instanceof Uint8Array ? { base64: toBase64(content) } : content,
  )
}

/** The manifest that was encoded. */
export function decodedManifest(
  encoded: WorkspaceManifest<string | EncodedBytes>,
  fromBase64: (text: string) => Uint8Array,
): WorkspaceManifest {
  return withContents<string | EncodedBytes, string | Uint8Array>(encoded, (content) =>
    typeof content === 'string' ? content : fromBase64(content.base64),
  )
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
