import type { JournalEvent } from '@vitrine/protocol'
import { expect } from 'vitest'
import { leaked } from '../masking/encodings.ts'

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
  for (const text of texts) expect(leaked(secret, text), where).toBeUndefined()
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
      event.type === 'process.output' && typeof event.data.data === 'string'
        ? [Buffer.from(event.data.data, event.data.encoding).toString()]
        : [],
    )
    .join('')
}
