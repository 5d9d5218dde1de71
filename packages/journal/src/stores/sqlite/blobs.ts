import type { BlobInfo, NewBlob } from '../contract.ts'
import type { Statements } from './statements.ts'

const partBytes = 256 * 1024

/** Stores the bytes in parts, so that a range can be read without the rest. Call inside a transaction. */
export function insertBlob(statements: Statements, { hash, mediaType, bytes }: NewBlob): void {
  const { changes } = statements
    .of('INSERT INTO blobs (hash, bytes, media_type, stored_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
    .run(hash, bytes.byteLength, mediaType, Date.now())
  if (changes === 0) {
    statements.of('UPDATE blobs SET stored_at = ? WHERE hash = ?').run(Date.now(), hash)
    return
  }
  const insert = statements.of('INSERT INTO blob_parts (hash, part, data) VALUES (?, ?, ?)')
  for (let part = 0; part * partBytes < bytes.byteLength; part += 1) {
    insert.run(hash, part, bytes.subarray(part * partBytes, (part + 1) * partBytes))
  }
}

export function blobInfo(statements: Statements, hash: string): BlobInfo | undefined {
  const row = statements.of('SELECT bytes, media_type FROM blobs WHERE hash = ?').get(hash)
  if (row === undefined) return undefined
  return {
    hash,
    bytes: Number(row.bytes),
    mediaType: row.media_type === null ? null : String(row.media_type),
  }
}

export function blobPart(statements: Statements, hash: string, offset: number, length: number): Uint8Array {
  const part = Math.floor(offset / partBytes)
  const offsetInPart = offset - part * partBytes
  const row = statements
    .of('SELECT substr(data, ?, ?) AS data FROM blob_parts WHERE hash = ? AND part = ?')
    .get(offsetInPart + 1, length, hash, part)
  return row?.data instanceof Uint8Array ? row.data : new Uint8Array()
}

/** Deletes up to 64 blobs that no event refers to. Call inside a transaction. */
export function deleteUnreferenced(statements: Statements, before: number): number {
  const unreferenced = statements
    .of(
      `SELECT hash FROM blobs WHERE stored_at < ?
       AND NOT EXISTS (SELECT 1 FROM blob_references WHERE blob = blobs.hash) LIMIT 64`,
    )
    .all(before)
  for (const { hash } of unreferenced) {
    if (typeof hash !== 'string') continue
    statements.of('DELETE FROM blob_parts WHERE hash = ?').run(hash)
    statements.of('DELETE FROM blobs WHERE hash = ?').run(hash)
  }
  return unreferenced.length
}
