import fc from 'fast-check'

/** Text that contains a secret in a promised encoding. */
export interface Encoded {
  readonly encoding: string
  readonly text: string
}

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))

/** A secret of 16 to 120 characters. */
export const longSecret = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_+/=-]{16,120}$/),
  fc
    .string({ unit: fc.constantFrom(...printable), minLength: 16, maxLength: 120 })
    .filter((secret) => secret.trim() === secret),
  fc
    .array(fc.constantFrom(...printable.slice(1), 'é', 'ß', '€', '😀'), { minLength: 16, maxLength: 120 })
    .map((units) => units.join(''))
    .filter((secret) => secret.length <= 120),
)

const context = fc.string({ unit: fc.constantFrom(...'abcXYZ019 .,:=-_\n'), maxLength: 90 })

/** The beginning of an escape, escaped itself or not: it may make an escape of the beginning of a secret. */
const introducers = [
  '%',
  '%4',
  '\\',
  '\\x',
  '\\x4',
  '\\u',
  '\\u0',
  '\\u00',
  '\\u004',
  '\\u{',
  '\\u{4',
  '\\0',
  '\\06',
  '\\1',
]
const escapedIntroducers = [
  '\\\\',
  '%25',
  '%5C',
  '%5c%',
  '%5Cu',
  '\\x5c',
  '\\x25',
  '\\134',
  '\\u005c',
  '\\u0025',
]
const directlyBefore = fc.oneof(
  fc.constant(''),
  fc.constantFrom(...introducers),
  fc.constantFrom(...escapedIntroducers),
  fc.string({ unit: fc.constantFrom(...'\\%ux{05C4'), maxLength: 6 }),
)

/** A secret whose letters may each be spelled in another way. A letter that starts an escape is always escaped. */
function spelled(secret: string, choices: readonly number[], ways: readonly string[]): string {
  return [...secret].reduceRight((rest, letter, index) => {
    const way = ways[(choices[index % choices.length] ?? 0) % ways.length]!
    return spelledLetter(letter, way, rest) + rest
  }, '')
}

function spelledLetter(letter: string, way: string, rest: string): string {
  if (way === 'raw' && letter !== '%' && letter !== '\\') return letter
  if (way === 'percent' || way === 'raw') return bytesOf(letter, (byte) => `%${hexOf(byte).toUpperCase()}`)
  if (way === 'percent-small') return bytesOf(letter, (byte) => `%${hexOf(byte)}`)
  // As JavaScript and Python write a character of Latin-1 beside others that they leave as they are.
  if (way === 'character') return /[\\%\x80-\xff]/.test(letter) ? `\\x${hexOf(letter.charCodeAt(0))}` : letter
  if (way === 'byte') return bytesOf(letter, (byte) => `\\x${hexOf(byte)}`)
  if (way === 'octal') return bytesOf(letter, (byte) => `\\${byte.toString(8).padStart(3, '0')}`)
  // A digit that follows would belong to it.
  if (way === 'octal-short')
    return bytesOf(letter, (byte) => `\\${byte.toString(8).padStart(/^[0-7]/.test(rest) ? 3 : 1, '0')}`)
  // `echo -e` and `printf %b` read a zero and three digits.
  if (way === 'octal-echo') return bytesOf(letter, (byte) => `\\0${byte.toString(8).padStart(3, '0')}`)
  const sign = way === 'percent-unicode' ? '%' : '\\'
  return letter.replace(/./gs, (unit) => `${sign}u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}

function bytesOf(letter: string, spell: (byte: number) => string): string {
  return [...Buffer.from(letter)].map(spell).join('')
}

const choices = fc.array(fc.nat(6), { minLength: 1, maxLength: 20 })
const realGaps = ['\n', '\r\n', ' ', '\n    ', '\t', '\\\n', '"\n"', '", "', '\n> ']
const escapedGaps = ['\\n', '\\r\\n', '\\\\n', '%0A', '%0D%0A', '\\x0a', '\\012', '\\u000a', '%5Cn']
const gaps = [...realGaps, ...escapedGaps]

function wrap(text: string, width: number, gap: string): string {
  return (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(gap)
}

const width = fc.oneof(fc.constantFrom(64, 76), fc.integer({ min: 4, max: 100 }))

/** A secret as any promised encoding writes it, with other text around it. */
export function encoded(secret: string): fc.Arbitrary<Encoded> {
  const maybeContext = fc.oneof(fc.constant(''), context)
  const wrapped = fc.record({
    before: maybeContext,
    after: maybeContext,
    width,
    gap: fc.constantFrom(...gaps),
  })
  const around = (encoding: string, text: fc.Arbitrary<string>, last = directlyBefore) =>
    fc.tuple(context, last, text, context).map(([before, last, inner, after]) => ({
      encoding,
      text: `${before}\n${last}${inner}\n${after}`,
    }))
  const lines = (encoding: string, encode: (bytes: Buffer) => string) =>
    around(
      encoding,
      wrapped.map(({ before, after, width, gap }) =>
        wrap(encode(Buffer.from(before + secret + after)), width, gap),
      ),
    )
  const spellings = ['raw', 'percent', 'percent-small', 'byte', 'unicode', 'octal', 'octal-short']
  const mixed = choices.map((chosen) => spelled(secret, chosen, spellings))
  // JSON escapes backslashes only, so that percent signs inside are escaped once.
  const backslashes = choices.map((chosen) => spelled(secret, chosen, spellings.slice(3)))
  return fc.oneof(
    around('itself', fc.constant(secret)),
    around('JSON', fc.constant(JSON.stringify(secret))),
    around('JSON in JSON', fc.constant(JSON.stringify(JSON.stringify(secret)))),
    around('encodeURI', fc.constant(encodeURI(secret))),
    around('encodeURIComponent', fc.constant(encodeURIComponent(secret))),
    around('a shell', fc.constant(`'${secret.replaceAll("'", "'\\''")}'`)),
    around('a form', fc.constant(new URLSearchParams({ key: secret }).toString())),
    ...[...spellings.slice(1), 'octal-echo', 'percent-unicode', 'character'].map((way) =>
      around(way, fc.constant(spelled(secret, [0], [way]))),
    ),
    around('escape', fc.constant(escape(secret))),
    around(
      'partly percent',
      choices.map((chosen) => spelled(secret, chosen, spellings.slice(0, 3))),
    ),
    around('mixed', mixed),
    around(
      'backslashes, in JSON',
      backslashes.map((text) => JSON.stringify(text)),
    ),
    around('mixed, in a URL', mixed.map(encodeURIComponent)),
    lines('base64', (bytes) => bytes.toString('base64')),
    lines('base64url', (bytes) => bytes.toString('base64url')),
    lines('hex', (bytes) => bytes.toString('hex')),
    lines('hex in capitals', (bytes) => bytes.toString('hex').toUpperCase()),
    around(
      'hex bytes',
      fc
        .constantFrom(' ', '\n', ':', ',', ', ')
        .map((gap) => wrap(Buffer.from(secret).toString('hex'), 2, gap)),
    ),
  )
}

/** Cuts a text anywhere. */
export function cutInto(text: string): fc.Arbitrary<string[]> {
  return fc
    .array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 300 })), {
      maxLength: 60,
    })
    .map((lengths) => {
      const chunks: string[] = []
      let from = 0
      for (const length of lengths) {
        if (from >= text.length) break
        chunks.push(text.slice(from, from + length))
        from += length
      }
      return from < text.length ? [...chunks, text.slice(from)] : chunks
    })
}

const visible = 12

/** Twelve consecutive characters of a secret that a text still shows, after undoing every promised encoding. */
export function leaked(secret: string, text: string): string | undefined {
  const seen = text.replace(/\[redacted:[^\]]*\]/g, '\u{F0000}')
  const bytes = Buffer.from(seen).toString('latin1')
  const undone = [anyEscape, anyEchoEscape].flatMap((escapes) =>
    [byteOf, characterOf].flatMap((spell) => {
      const once = undo(bytes, escapes, spell)
      return [once, undo(once, escapes, spell)]
    }),
  )
  const views = [...new Set([bytes, ...undone])].flatMap((view) => [
    view,
    view.replaceAll('+', ' '),
    view.replace(/[\s"',:;>|[\]]+/g, ''),
  ])
  const letters = [...secret]
  for (let at = 0; at + visible <= letters.length; at++) {
    const piece = letters.slice(at, at + visible).join('')
    const forms = formsOf(Buffer.from(piece))
    if (forms.some((form) => views.some((view) => view.includes(form)))) return piece
  }
  return undefined
}

function formsOf(piece: Buffer): string[] {
  const cores = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), piece]).toString('base64')
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + piece.length) * 8) / 6))
  })
  const hex = piece.toString('hex')
  const urlCores = cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_'))
  return [piece.toString('latin1'), ...cores, ...urlCores, hex, hex.toUpperCase()]
}

const anyEscape = /%([\da-f]{2})|\\x([\da-f]{2})|[%\\]u([\da-f]{4})|\\([0-3][0-7]{2}|[0-7]{1,2})|\\(.)/gis
const anyEchoEscape =
  /%([\da-f]{2})|\\x([\da-f]{2})|[%\\]u([\da-f]{4})|\\(0[0-3][0-7]{2}|[0-3][0-7]{2}|[0-7]{1,2})|\\(.)/gis

/** An escape of one byte is a byte of UTF-8, or a character of Latin-1. */
function byteOf(code: number): string {
  return String.fromCharCode(code)
}

function characterOf(code: number): string {
  return Buffer.from(String.fromCharCode(code)).toString('latin1')
}

function undo(text: string, escapes: RegExp, spell: (code: number) => string): string {
  return text.replace(escapes, (all, ...groups) => {
    const [percent, byte, unit, octal, letter] = groups as (string | undefined)[]
    if (percent !== undefined || byte !== undefined) return spell(Number.parseInt(percent ?? byte ?? '', 16))
    if (octal !== undefined) return spell(Number.parseInt(octal, 8))
    if (unit !== undefined)
      return Buffer.from(String.fromCharCode(Number.parseInt(unit, 16))).toString('latin1')
    return letter === undefined ? all : ({ n: '\n', r: '\r', t: '\t' }[letter] ?? letter)
  })
}
