import type { SecretPattern } from './pattern.ts'

const dashes = '-----'
const label = '(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?'
const header = new RegExp(`-----BEGIN ${label}-----`, 'y')
const footer = new RegExp(`-----END ${label}-----`, 'y')
const keyLines = /(?:(?:\s|\\[rnt]){1,64}[A-Za-z0-9+/=]{16,200}){0,4000}/y

/**
 * A private key as a PEM block. If the footer is missing, as in the output of `head`, the lines that look like key
 * data are masked; the header alone is not a secret.
 */
export const privateKeyPattern: SecretPattern = {
  name: 'private-key',
  grams: ['-BEG'],
  match(text, at) {
    const start = at - dashes.length + 1
    const body = start < 0 ? -1 : endOf(header, text, start)
    if (body === -1) return undefined
    // The next dashes end this block or start another one, so no text is searched twice.
    const next = text.indexOf(dashes, body)
    const end = next === -1 ? -1 : endOf(footer, text, next)
    if (end !== -1) return { start, end }
    const cut = endOf(keyLines, text, body)
    return cut > body ? { start, end: cut } : undefined
  },
}

/** The end of the match that starts at this index, or -1. */
function endOf(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at
  return sticky.test(text) ? sticky.lastIndex : -1
}
