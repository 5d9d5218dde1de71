import { createHash } from 'node:crypto'
import type { BlobRef, JsonObject, JsonValue } from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import type { NewBlob } from '../stores/contract.ts'

/** A text longer than this leaves the event and becomes a blob. */
export const maxFieldBytes = 64 * 1024
/** An event longer than this, even so, has its largest fields taken out whole. */
const maxEventBytes = 1024 * 1024

interface Offloaded {
  readonly data: JsonObject
  readonly dataJson: string
  readonly blobs: readonly NewBlob[]
}

/** Whether a blob of this size may still be stored, or is stored already. */
export type ReserveBlobSpace = (bytes: number, hash: string) => boolean

/** Moves what is too large for an event into blobs, or cuts it where there is no room for one. */
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
  // Writing it is what costs: a text of many short lines is as long as that without any field being too large.
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

/** Counted in bytes, of which a letter has three at most. */
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

/** A cut may go through a character of two units. */
function trimLoneSurrogates(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

function mapFields(
  object: JsonObject,
  map: (value: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}
