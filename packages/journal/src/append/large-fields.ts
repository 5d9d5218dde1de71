import { createHash } from 'node:crypto'
import type { BlobRef, JsonObject, JsonValue } from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import type { NewBlob } from '../stores/contract.ts'

/** A string longer than this is stored as a blob instead of in the event. */
export const maxFieldBytes = 64 * 1024
/** If the event is still longer than this, its large fields are stored as blobs as a whole. */
const maxEventBytes = 1024 * 1024

interface Offloaded {
  readonly data: JsonObject
  readonly dataJson: string
  readonly blobs: readonly NewBlob[]
}

/** Reserves space for a blob; false if the limits do not allow it. A blob that is already counted is free. */
export type ReserveBlobSpace = (bytes: number, hash: string) => boolean

/** Moves fields that are too large for an event into blobs, or truncates them if there is no space for a blob. */
export function offloadLargeFields(
  data: JsonObject,
  dataJson: string,
  reserveSpace: ReserveBlobSpace,
): Offloaded {
  const blobs: NewBlob[] = []
  let changed = false
  const store = (text: string, mediaType: string): JsonValue => {
    changed = true
    const blob = toBlob(Buffer.from(text), mediaType)
    if (!reserveSpace(blob.bytes.byteLength, blob.hash)) return truncate(text)
    blobs.push(blob)
    return refTo(blob)
  }
  const offload = (value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof value === 'string') {
      return isTooLarge(value) ? store(value, 'text/plain; charset=utf-8') : value
    }
    if (Array.isArray(value)) return value.map((inner: JsonValue) => offload(inner) ?? null)
    if (typeof value === 'object' && value !== null) return mapFields(value as JsonObject, offload)
    return value
  }
  let result = mapFields(data, offload)
  // Serialise only if something changed, because that is expensive: many small fields can make a large event too.
  let json = changed ? JSON.stringify(result) : dataJson
  if (json.length > maxEventBytes) {
    result = mapFields(result, (field) => {
      const fieldJson = JSON.stringify(field)
      return isTooLarge(fieldJson) ? store(fieldJson, 'application/json') : field
    })
    json = JSON.stringify(result)
  }
  if (json.length > maxEventBytes) {
    throw new VitrineError(
      'event_invalid',
      `data: expected at most ${maxEventBytes} bytes of JSON in fields below ${maxFieldBytes} bytes, got ${json.length}.`,
    )
  }
  return { data: changed ? result : data, dataJson: json, blobs }
}

/** Counts bytes; a UTF-16 code unit has at most three in UTF-8, so short texts need no count. */
export function isTooLarge(text: string): boolean {
  return text.length * 3 > maxFieldBytes && Buffer.byteLength(text) > maxFieldBytes
}

export function toBlob(bytes: Uint8Array, mediaType: string | null): NewBlob {
  return { hash: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, mediaType, bytes }
}

export function refTo({ hash, mediaType, bytes }: NewBlob): BlobRef & JsonObject {
  return { blob: hash, bytes: bytes.byteLength, ...(mediaType !== null && { mediaType }) }
}

/** The distinct blobs that an event's JSON refers to. */
export function blobReferences(dataJson: string): readonly string[] {
  if (!dataJson.includes('"sha256:')) return []
  return [...new Set(dataJson.match(/(?<=")sha256:[0-9a-f]{64}(?=")/g))]
}

function truncate(text: string): string {
  const kept = maxFieldBytes / 4
  const omitted = text.length - 2 * kept
  const [head, tail] = [text.slice(0, kept), text.slice(-kept)].map(trimLoneSurrogates)
  return `${head}…[${omitted} characters left out: no room for blobs]…${tail}`
}

/** Truncation may split a surrogate pair. */
function trimLoneSurrogates(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

function mapFields(
  object: JsonObject,
  map: (value: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}
