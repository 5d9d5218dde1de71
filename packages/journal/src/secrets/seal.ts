import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

/** A text encrypted with AES-256-GCM: nonce, tag and ciphertext, as base64. */
export function seal(key: Uint8Array, id: string, text: string): string {
  // A nonce must not repeat with one key; random ones are safe for 2^32 texts.
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(id))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
}

/** Throws if the text was sealed with another key or id, or was changed. */
export function unseal(key: Uint8Array, id: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const start = nonceBytes + tagBytes
  if (bytes.length < start) throw new Error('The sealed text is too short.')
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(id))
  decipher.setAuthTag(bytes.subarray(nonceBytes, start))
  return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8')
}
