import { readings } from './escape-reader.ts'
import { unescapeBytes, unescapeFirst } from './escapes.ts'
import { shortestRest, swallowedForms } from './swallowed-forms.ts'

/** A shorter form would mask ordinary text. */
export const shortestForm = 4
const shortestCore = 6
const shortestLine = 16
/** In bytes. The digits of a shorter secret may be ordinary numbers. */
const shortestHex = 6

/**
 * Every text a secret may appear as: itself, escaped for JSON or for a URL, as base64 at any alignment,
 * and line by line when it has several.
 *
 * @example
 * secretForms('p@ss"word') // ['p@ss"word', 'p@ss\\"word', 'p%40ss%22word', …]
 */
export function secretForms(value: string): string[] {
  const forms = new Set<string>()
  for (const variant of lineEndVariants(value)) {
    for (const form of escapedForms(variant)) forms.add(form)
    for (const form of base64Forms(variant)) forms.add(form)
  }
  for (const line of longLines(value)) {
    for (const form of escapedForms(line)) forms.add(form)
  }
  return [...forms].filter((form) => form.length >= shortestForm)
}

/**
 * The encodings of a secret that programs wrap into lines: base64 at any alignment, for URLs too, and hexadecimal.
 *
 * @example
 * wrappedForms('hunter22') // ['aHVudGVyMjI=', …, '68756e7465723232', '68756E7465723232']
 */
export function wrappedForms(value: string): string[] {
  const forms = new Set<string>()
  for (const variant of lineEndVariants(value)) {
    const bytes = Buffer.from(variant, 'utf8')
    for (const form of base64Pieces(bytes)) {
      forms.add(form)
      forms.add(form.replaceAll('+', '-').replaceAll('/', '_'))
    }
    if (bytes.length < shortestHex) continue
    const hex = bytes.toString('hex')
    forms.add(hex)
    forms.add(hex.toUpperCase())
  }
  return [...forms].filter((form) => form.length >= shortestCore)
}

/** The value as it is, trimmed, and with the line ends of Unix and of a terminal. */
function lineEndVariants(value: string): Set<string> {
  const unix = value.replaceAll('\r\n', '\n')
  const texts = [value, value.trim(), unix, unix.replaceAll('\n', '\r\n')]
  return new Set(texts.filter((text) => text.length >= shortestForm))
}

/** An indented key matches only line by line. Headers such as `-----BEGIN` are not secret. */
function longLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/)
  if (lines.length < 2) return []
  return lines
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !line.startsWith('-----'))
}

/**
 * More byte strings that are a secret once the escapes of a text are undone: with `+` for a space, after undoing
 * escapes that the secret contains itself, in Latin-1, and after a character that makes an escape of its beginning.
 */
export function unescapedForms(value: string): string[] {
  const forms = new Set<string>()
  for (const variant of lineEndVariants(value)) {
    const bytes = utf8AsLatin1(variant)
    forms.add(utf8AsLatin1(variant.replaceAll(' ', '+')))
    for (const reading of readings) forms.add(unescapeBytes(bytes, bytes.length, reading)?.bytes ?? bytes)
    if (isLatin1(variant)) forms.add(variant)
    for (const form of [...firstSwallowed(bytes), ...swallowedForms(bytes)]) forms.add(form)
    // The escape may be one of a byte or of a character.
    for (const rest of [bytes.slice(1), utf8AsLatin1(withoutFirst(variant))])
      if (rest.length >= shortestRest) forms.add(rest)
  }
  return [...forms].filter((form) => form.length >= shortestForm)
}

/**
 * The texts that are left of a secret that begins with an escape, if a backslash before it makes text of that escape.
 */
export function restForms(value: string): string[] {
  return [...lineEndVariants(value)].map(withoutFirst).filter((rest) => rest.length >= shortestRest)
}

function withoutFirst(text: string): string {
  const [first = ''] = text
  return text.slice(first.length)
}

/** The same of the forms that may be wrapped into lines. */
export function unescapedWrappedForms(wrapped: readonly string[]): string[] {
  return [...new Set(wrapped.flatMap((form) => [form, ...swallowedForms(form)]))]
}

/** A backslash or percent sign directly before a secret makes an escape of its first characters: `\token`, `%abcd`. */
function firstSwallowed(bytes: string): string[] {
  return readings.flatMap((reading) =>
    ['\\', '%'].flatMap((before) => {
      const [head, rest] = unescapeFirst(before + bytes, reading)
      if (head === undefined) return []
      return [head + rest, head + (unescapeBytes(rest, rest.length, reading)?.bytes ?? rest)]
    }),
  )
}

/** The beginnings of the unescaped forms, as they are in a text without the escape. */
export function unescapedStarts(unescaped: readonly string[]): string[] {
  const starts = unescaped.flatMap((form) => {
    const text = Buffer.from(form, 'latin1').toString('utf8')
    return [form.slice(0, shortestForm), text.slice(0, shortestForm)]
  })
  return [...new Set(starts)].filter((start) => start.length === shortestForm)
}

/** A text as UTF-8, one character per byte. */
export function utf8AsLatin1(text: string): string {
  const bytes = Buffer.from(text, 'utf8')
  return bytes.length === text.length ? text : bytes.toString('latin1')
}

function isLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 255) return false
  return true
}

function escapedForms(text: string): string[] {
  return [text, ...jsonForms(text), ...urlForms(text), ...quotedForms(text)]
}

/** As shells print it (`set -x`), and as SQL, CSV and HTML quote it. */
function quotedForms(text: string): string[] {
  if (!/["'&<>]/.test(text)) return []
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = html.replaceAll('"', '&quot;')
  return [
    ...["'\\''", `'"'"'`, "''"].map((quote) => text.replaceAll("'", quote)),
    text.replaceAll('"', '""'),
    html,
    quoted,
    ...['&#39;', '&#x27;', '&apos;'].map((entity) => quoted.replaceAll("'", entity)),
  ]
}

function jsonForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1)
  const once = [
    plain,
    plain.replace(/[^ -~]/g, (unit) => unicodeEscape(unit)),
    plain.replace(/[^ -~]/g, (unit) => unicodeEscape(unit).toUpperCase().replace('U', 'u')),
    plain.replace(/[<>&]/g, (unit) => unicodeEscape(unit)),
  ].flatMap((form) => [form, form.replaceAll('/', '\\/')])
  return [...once, ...once.map((form) => JSON.stringify(form).slice(1, -1))]
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function urlForms(text: string): string[] {
  const wellFormed = text.toWellFormed()
  const component = encodeURIComponent(wellFormed)
  const strict = component.replace(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`)
  return [component, strict]
    .flatMap((form) => [form, form.replaceAll('%2F', '/')])
    .flatMap((form) => [form, form.replaceAll('%20', '+')])
    .concat(new URLSearchParams([['', wellFormed]]).toString().slice(1))
    .flatMap((form) => [form, lowerCaseHex(form)])
}

function lowerCaseHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8')
  return base64Pieces(bytes)
    .flatMap((form) => [
      form,
      form.replaceAll('+', '-').replaceAll('/', '_'),
      form.replaceAll('/', '\\/'),
      encodeURIComponent(form),
      lowerCaseHex(encodeURIComponent(form)),
    ])
    .concat(base64Lines(bytes.toString('base64')))
}

function base64Pieces(bytes: Buffer): string[] {
  const alone = bytes.toString('base64')
  return [alone, alone.replace(/=+$/, ''), ...base64Cores(bytes)]
}

/**
 * The base64 characters that do not depend on the bytes around the secret: a character holds six bits, so those at
 * both ends may also hold bits of a neighbour.
 */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2]
    .map((before) => {
      const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
      return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    })
    .filter((core) => core.length >= shortestCore)
}

/** The lines that `base64` (76 characters) and `openssl` (64 characters) print. */
function base64Lines(encoded: string): string[] {
  return [76, 64]
    .filter((width) => encoded.length > width)
    .flatMap((width) => encoded.match(new RegExp(`.{${shortestLine},${width}}`, 'g')) ?? [])
}
