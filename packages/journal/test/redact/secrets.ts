import fc from 'fast-check'

/** A small alphabet, so that secrets overlap and share prefixes; it includes all characters that encodings escape. */
const units = [...'abAB0', '"', '\\', '/', '\n', '%', '+', '&', '<', ' ', "'", '~', 'é', '€', '😀']

export const anyText = fc.string({ unit: fc.constantFrom(...units), maxLength: 40 })

export const anySecret = fc.oneof(
  fc.string({ unit: fc.constantFrom(...units), minLength: 4, maxLength: 24 }),
  fc.string({ unit: 'grapheme', minLength: 4, maxLength: 24 }),
  fc.stringMatching(/^[A-Za-z0-9+/_-]{8,40}$/),
)

/** Replaces each marker by a character that random texts do not contain, so that a marker cannot look like a secret. */
export function withoutMarkers(text: string): string {
  return text.replace(/\[redacted:[^\]]*\]/g, '\u{F0000}')
}
