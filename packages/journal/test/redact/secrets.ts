import fc from 'fast-check'

/** Few letters, so that secrets overlap and begin alike; all that the encodings treat in a special way. */
const units = [...'abAB0', '"', '\\', '/', '\n', '%', '+', '&', '<', ' ', "'", '~', 'é', '€', '😀']

export const anyText = fc.string({ unit: fc.constantFrom(...units), maxLength: 40 })

export const anySecret = fc.oneof(
  fc.string({ unit: fc.constantFrom(...units), minLength: 4, maxLength: 24 }),
  fc.string({ unit: 'grapheme', minLength: 4, maxLength: 24 }),
  fc.stringMatching(/^[A-Za-z0-9+/_-]{8,40}$/),
)

/** What a random text cannot hold, in the place of each marker: a mask must not pass for what it hides. */
export function withoutMarkers(text: string): string {
  return text.replace(/\[redacted:[^\]]*\]/g, '\u{F0000}')
}
