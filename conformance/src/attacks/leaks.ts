import { isEvent, type JournalEvent } from '@vitrine/protocol'
import { expect } from 'vitest'

/** So many consecutive characters of a secret must not be readable. */
const visible = 12

/** Every spelling of a text that the promise names. */
export const encodings: Readonly<Record<string, (secret: string) => string>> = {
  itself: (secret) => secret,
  JSON: (secret) => JSON.stringify(secret),
  encodeURI: (secret) => encodeURI(secret),
  encodeURIComponent: (secret) => encodeURIComponent(secret),
  'percent of every byte': (secret) => bytesOf(secret, (hex) => `%${hex.toUpperCase()}`),
  'percent of every byte, small': (secret) => bytesOf(secret, (hex) => `%${hex}`),
  'escapes of every character': (secret) => bytesOf(secret, (hex) => `\\u00${hex}`),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64, one byte later': (secret) => Buffer.from(`x${secret}`).toString('base64'),
  'base64, two bytes later': (secret) => Buffer.from(`xx${secret}`).toString('base64'),
  'base64 at 64 columns': (secret) => wrapped(secret, 64, '\n'),
  'base64 at 76 columns': (secret) => wrapped(secret, 76, '\n'),
  'base64 at 76 columns of a mail': (secret) => wrapped(secret, 76, '\r\n'),
  'base64 at 20 columns': (secret) => wrapped(secret, 20, '\n'),
}

function bytesOf(text: string, spell: (hex: string) => string): string {
  return [...Buffer.from(text)].map((byte) => spell(byte.toString(16).padStart(2, '0'))).join('')
}

/** In the middle of other text, so that a line ends within the secret. */
function wrapped(secret: string, columns: number, end: string): string {
  const base64 = Buffer.from(`${'of a larger file '.repeat(2)}${secret} and more`).toString('base64')
  return base64.match(new RegExp(`.{1,${columns}}`, 'g'))?.join(end) ?? ''
}

/** Fails if twelve consecutive characters of the secret can be read in the events, in any of the encodings. */
export function expectNoLeak(events: readonly JournalEvent[], secret: string, where: string): void {
  const texts = [
    JSON.stringify(events),
    events.map(({ data }) => stringsIn(data)).join('\n'),
    outputOf(events),
  ]
  const decoded = texts.flatMap((text) => [text, unescaped(text), text.replaceAll(/\s|\\r|\\n/g, '')])
  for (let at = 0; at + visible <= secret.length; at += 1) {
    const piece = secret.slice(at, at + visible)
    const leak = [piece, ...base64Cores(piece)].find((form) => decoded.some((text) => text.includes(form)))
    expect(leak, `${where}: characters ${at} to ${at + visible}`).toBeUndefined()
  }
}

/** The part of the base64 of a text that does not depend on the text around it, for every offset. */
function base64Cores(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const bits = Buffer.from('\0'.repeat(offset) + text).toString('base64')
    return bits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + text.length) * 8) / 6))
  })
}

function unescaped(text: string): string {
  return text.replaceAll(/%([\da-f]{2})|\\u00([\da-f]{2})|\\(["\\/])/gi, (_, percent, unicode, letter) =>
    letter === undefined ? String.fromCharCode(Number.parseInt(percent ?? unicode, 16)) : letter,
  )
}

function stringsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${stringsIn(inner)}`)
    .join(' ')
}

/** The output of all processes in one piece: a secret may be split over events. */
function outputOf(events: readonly JournalEvent[]): string {
  return events
    .flatMap((event) =>
      isEvent(event, 'process.output') && typeof event.data.data === 'string'
        ? [Buffer.from(event.data.data, event.data.encoding).toString()]
        : [],
    )
    .join('')
}
