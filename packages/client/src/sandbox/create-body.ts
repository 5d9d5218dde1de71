import { type CreateSandboxOptions, VitrineError } from '@vitrine/protocol'
import { encodedManifest } from '@vitrine/protocol/primitives'
import { toBase64 } from '../http/base64.ts'

/** The JSON of a creation: bytes of the workspace's files as base64. Throws for a value that JSON would lose. */
export function createBody(options: Omit<CreateSandboxOptions, 'signal'>): object {
  assertJson(options, '')
  const { workspace } = options
  return { ...options, ...(workspace && { workspace: encodedManifest(workspace, toBase64) }) }
}

function assertJson(value: unknown, path: string): void {
  if (typeof value === 'function')
    throw new VitrineError(
      'unsupported',
      `create options.${path}: expected a value that can be sent over HTTP, got a function; give functions to a host in its own process.`,
      { details: { path } },
    )
  if (typeof value === 'symbol' || typeof value === 'bigint' || isOtherObject(value, path))
    throw new VitrineError(
      'argument_invalid',
      `create options.${path}: expected a plain object or a simple value, got ${kindOf(value)}.`,
      { details: { path } },
    )
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  for (const [name, item] of Object.entries(value)) assertJson(item, path === '' ? name : `${path}.${name}`)
}

/** A Map, a Set, a Date: its JSON is another value, or an empty object. Only files of the workspace may be bytes. */
function isOtherObject(value: unknown, path: string): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (value instanceof Uint8Array) return !path.startsWith('workspace.files.')
  return kindOf(value) !== 'a Object'
}

function kindOf(value: unknown): string {
  return typeof value === 'object'
    ? `a ${Object.prototype.toString.call(value).slice(8, -1)}`
    : `a ${typeof value}`
}
