import type { WorkspaceManifest } from '@vitrine/sandbox'

type Files = NonNullable<WorkspaceManifest['files']>

/** Encodes a manifest for a record: JSON has no bytes, so they become base64. */
export function storedManifest(workspace: WorkspaceManifest): unknown {
  const { files } = workspace
  return files === undefined ? workspace : { ...workspace, files: eachFile(files, storedFile) }
}

/** Decodes a stored manifest. */
export function readStoredManifest(stored: WorkspaceManifest): WorkspaceManifest {
  const { files } = stored
  // The cast holds because `storedFile` wrote every entry.
  return files === undefined ? stored : { ...stored, files: eachFile(files, readFile) as Files }
}

/** The parts of a manifest that every start needs; the rest only prepares a new workspace. */
export function lastingManifest({ env, users, groups }: WorkspaceManifest): WorkspaceManifest {
  return { ...(env && { env }), ...(users && { users }), ...(groups && { groups }) }
}

function eachFile(files: Files, change: (file: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(files ?? {}).map(([path, file]) => [path, change(file)]))
}

function storedFile(file: unknown): unknown {
  if (file instanceof Uint8Array) return { base64: Buffer.from(file).toString('base64') }
  if (!isObject(file) || !(file.content instanceof Uint8Array)) return file
  const { content, ...rest } = file
  return { ...rest, base64: Buffer.from(content).toString('base64') }
}

function readFile(file: unknown): unknown {
  if (!isObject(file) || typeof file.base64 !== 'string') return file
  const { base64, ...rest } = file
  return { ...rest, content: new Uint8Array(Buffer.from(base64, 'base64')) }
}

function isObject(
  value: unknown,
): value is Record<string, unknown> & { content?: unknown; base64?: unknown } {
  return typeof value === 'object' && value !== null
}
