import { createHash } from 'node:crypto'
import { VitrineError } from '@vitrine/protocol'

/** The person or organisation that a sandbox belongs to. */
export type Tenant = string | { readonly userId?: string; readonly orgId?: string }

/** Everything that two calls must have in common to get the same sandbox. */
export interface DefinitionKeyParts {
  readonly definition: string
  readonly provider: string
  readonly workspace: unknown
  readonly thread: string
  /** Only where each run has a sandbox of its own. */
  readonly run?: string
  readonly tenant?: Tenant
}

/** A key of 256 bits in hexadecimal. Parts that differ in any character give different keys. */
export function definitionKey(parts: DefinitionKeyParts): string {
  const { definition, provider, workspace, thread, run, tenant } = parts
  // An array of JSON values is unambiguous: no value can imitate the separator of two others.
  const values = ['definition', definition, provider, thread, run, tenant, workspace]
  return sha256(`[${values.map((value) => canonical(value)).join(',')}]`)
}

/** Text of a value that does not depend on the order of the keys of its objects. */
function canonical(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return JSON.stringify(value)
  if (value instanceof Uint8Array) return `bytes(${sha256(value)})`
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || !isPlain(value))
    throw new VitrineError('argument_invalid', 'workspace: expected data, which can be compared.')
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
