import { decodedManifest, encodedManifest } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import type { WorkspaceManifest } from '@vitrine/sandbox'

type StoredManifest = NonNullable<SandboxRecord['workspace']>

/** Encodes a manifest for a record: JSON has no bytes, so they become base64. */
export function storedManifest(workspace: WorkspaceManifest): StoredManifest {
  return encodedManifest(workspace, (bytes) => Buffer.from(bytes).toString('base64'))
}

/** Decodes a stored manifest. */
export function readStoredManifest(stored: StoredManifest): WorkspaceManifest {
  return decodedManifest(stored, (text) => new Uint8Array(Buffer.from(text, 'base64')))
}

/** The parts of a manifest that every start needs; the rest only prepares a new workspace. */
export function lastingManifest({ env, users, groups }: StoredManifest): StoredManifest {
  return { ...(env && { env }), ...(users && { users }), ...(groups && { groups }) }
}
