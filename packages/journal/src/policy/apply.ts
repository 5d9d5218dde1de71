import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '@vitrine/protocol'
import type { FullPolicy, PolicyRules } from './policy.ts'

const outputFields = new Set(['stdout', 'stderr'])
const argvFields = new Set(['argv', 'command', 'args'])
const pathFields = new Set([
  'path',
  'pathBase64',
  'previousPath',
  'previousPathBase64',
  'paths',
  'cwd',
  'root',
  'target',
  'uncovered',
])

/** Ids and enum values by which events are joined: the text limit does not apply to them. */
const identifierFields = new Set([
  ...['op', 'parent', 'gate', 'answer', 'outcome', 'errorType', 'errorCode', 'retryable', 'signal'],
  ...[
    'process',
    'stream',
    'encoding',
    'kind',
    'before',
    'after',
    'agent',
    'instance',
    'direction',
    'provider',
  ],
  ...[
    'permission',
    'question',
    'stopReason',
    'loop',
    'snapshot',
    'sink',
    'limit',
    'level',
    'version',
    'type',
    'id',
  ],
])

/** The size and hash of a truncated or omitted field, so that a reader can compare it. */
interface Omission {
  readonly bytes: number
  readonly sha256: string
}

/**
 * Applies a policy to a payload. Returns the same object if nothing changes. An event inside an operation, such as the
 * output of its process, follows the policy of the operation.
 */
export function applyPolicy(type: string, data: JsonObject, rules: PolicyRules, op?: string): JsonObject {
  const policy = policyOf(data.op ?? op, rules)
  let result: Record<string, JsonValue | undefined> | undefined
  let omitted: Record<string, JsonValue> | undefined
  for (const key in data) {
    const value = data[key]
    const change = changeField(type, key, value, policy, data.encoding === 'base64')
    if (change === undefined) continue
    result ??= { ...data }
    if (change.value === undefined) delete result[key]
    else result[key] = change.value
    if (change.omission) {
      omitted ??= {}
      omitted[key] = { ...change.omission }
    }
  }
  if (result === undefined) return data
  return omitted
    ? // If the journal truncated a field before a sink does, the original size and hash stay.
      { ...result, omitted: { ...omitted, ...(data.omitted as JsonObject | undefined) } }
    : result
}

function policyOf(op: JsonValue | undefined, { base, byOp }: PolicyRules): FullPolicy {
  return (typeof op === 'string' && Object.hasOwn(byOp, op) && byOp[op]) || base
}

interface FieldChange {
  /** Absent if the field is omitted. */
  readonly value?: JsonValue
  readonly omission?: Omission
}

function changeField(
  type: string,
  key: string,
  value: JsonValue | undefined,
  policy: FullPolicy,
  binary: boolean,
): FieldChange | undefined {
  if (value === undefined) return undefined
  if (outputFields.has(key) || (key === 'data' && type === 'process.output')) {
    if (!policy.output) return omit(key, value)
    return binary
      ? omitIfTooLarge(key, value, policy.maxOutputBytes)
      : truncateText(value, policy.maxOutputBytes)
  }
  if (argvFields.has(key)) return policy.argv ? undefined : {}
  if (pathFields.has(key)) return policy.paths ? undefined : omitPath(type, key)
  if (key === 'env') return changeEnv(value, policy.env)
  if (key === 'errorMessage' && !policy.errorText) return {}
  if (identifierFields.has(key) || type === 'journal.trimmed') return undefined
  if (key === 'data' && binary) return omitIfTooLarge(key, value, policy.maxTextBytes)
  return truncateText(value, policy.maxTextBytes)
}

/** Truncated base64 is invalid, so it is omitted as a whole. The limit applies to the decoded bytes. */
function omitIfTooLarge(key: string, value: JsonValue, maxBytes: number): FieldChange | undefined {
  if (typeof value !== 'string' || Buffer.byteLength(value, 'base64') <= maxBytes) return undefined
  return omit(key, value)
}

/** `data` stays as an empty text, because output events require it. */
function omit(key: string, value: JsonValue): FieldChange {
  const omission = typeof value === 'string' ? omissionOf(value) : undefined
  return { ...(key === 'data' && { value: '' }), ...(omission && { omission }) }
}

/** A path that an event requires stays as an empty text. */
function omitPath(type: string, key: string): FieldChange {
  const isSubject =
    (type.startsWith('file.') && (key === 'path' || key === 'previousPath')) ||
    (type === 'watch.ready' && key === 'root')
  return isSubject ? { value: '' } : {}
}

function changeEnv(value: JsonValue, rule: FullPolicy['env']): FieldChange | undefined {
  if (rule === true) return undefined
  if (rule === false) return {}
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return undefined
  return { value: Object.keys(value) }
}

/** Head and tail with a note in between, within the limit; the head alone if the note does not fit. */
function truncateText(value: JsonValue, maxBytes: number): FieldChange | undefined {
  if (typeof value !== 'string' || Buffer.byteLength(value) <= maxBytes) return undefined
  const bytes = Buffer.from(value)
  const omission = omissionOf(value)
  const note = (left: number) => `…[${left} bytes left out]…`
  const room = maxBytes - Buffer.byteLength(note(bytes.byteLength))
  if (room <= 0) return { value: utf8Prefix(bytes, maxBytes), omission }
  const head = utf8Prefix(bytes, Math.ceil(room / 2))
  const tail = utf8Suffix(bytes, Math.floor(room / 2))
  const left = bytes.byteLength - Buffer.byteLength(head) - Buffer.byteLength(tail)
  return { value: head + note(left) + tail, omission }
}

function omissionOf(text: string): Omission {
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') }
}

function utf8Prefix(bytes: Buffer, length: number): string {
  let end = Math.min(length, bytes.byteLength)
  while (end > 0 && isContinuation(bytes[end])) end -= 1
  return bytes.toString('utf8', 0, end)
}

function utf8Suffix(bytes: Buffer, length: number): string {
  let start = Math.max(0, bytes.byteLength - length)
  while (start < bytes.byteLength && isContinuation(bytes[start])) start += 1
  return bytes.toString('utf8', start)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
