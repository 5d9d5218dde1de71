import { isUtf8 } from 'node:buffer'
import { type JsonValue, VitrineError } from '@vitrine/protocol'
import { copyJson } from './copy.ts'
import {
  restForms,
  secretForms,
  shortestForm,
  unescapedForms,
  unescapedStarts,
  unescapedWrappedForms,
  utf8AsLatin1,
  wrappedForms,
} from './forms.ts'
import { createGramFilter, marksOf } from './grams.ts'
import { findPatterns, patternGrams } from './patterns.ts'
import { createScanner, type NamedForms } from './scanner.ts'
import { searchUnescaped } from './search-unescaped.ts'
import { maskSpans, mergeSpans, noSpans, type Span } from './span.ts'
import { createStreamRedactor, type StreamRedactor } from './stream.ts'

export interface RedactorOptions {
  /** Whether to mask unregistered secrets with a well-known token shape too; default true. */
  readonly patterns?: boolean
}

/** Masks registered secrets, in all their encodings, in data that is about to be committed. */
export interface Redactor {
  /** How many secrets are registered. */
  readonly size: number
  /** Registers a secret and returns a function that unregisters it. */
  add(name: string, value: string): () => void
  redactText(text: string): string
  /** A private copy of any value as JSON data, with every text and every key redacted. Never throws. */
  redactValue(value: unknown): JsonValue
  /** Returns the same bytes if nothing is masked. */
  redactBytes(bytes: Uint8Array): RedactedBytes
  /** A range of bytes. A secret that begins before it or ends after it is masked as far as it is inside. */
  redactExcerpt(bytes: Uint8Array, start: number, end: number): Uint8Array
  /** The bytes from `start` on, with a secret masked that begins before it. Others stay: a stream masks them. */
  redactContinued(bytes: Uint8Array, start: number): RedactedBytes
  /** For values that continue one another, such as the chunks of one process's output. */
  stream(): StreamRedactor
}

export interface RedactedBytes {
  readonly bytes: Uint8Array
  readonly redacted: boolean
}

const patternMarks = marksOf(patternGrams)

const maxSecrets = 10_000
const maxSecretBytes = 64 * 1024
const maxTotalBytes = 4 * 1024 * 1024
/** Keys without a secret are remembered: events have few different ones, and writers may choose more. */
const maxCleanKeys = 1_000
const maxCleanKeyLength = 64
/** A candidate of a secret is found within so many bytes of its beginning. */
const beginningLength = 4_096

/**
 * @example
 * const redactor = createRedactor()
 * redactor.add('DB_PASSWORD', 'hunter22')
 * redactor.redactText('psql: hunter22') // 'psql: [redacted:DB_PASSWORD]'
 */
export function createRedactor({ patterns = true }: RedactorOptions = {}): Redactor {
  // Bytes have more forms than text. Their marks in the filter of texts would slow down every event.
  const filter = createGramFilter(patterns ? patternMarks : undefined)
  const bytesFilter = createGramFilter(patterns ? patternMarks : undefined)
  const text = createScanner(filter)
  const bytes = createScanner(bytesFilter)
  const inText = searchUnescaped(text, bytes, 'utf8')
  const inBytes = searchUnescaped(bytes, bytes, 'latin1')
  const guess = patterns ? (text: string, from?: number) => findPatterns(text, filter, from) : () => noSpans
  const cleanKeys = new Set<string>()
  // The forms of a secret take milliseconds, so they are computed before the next value is masked: a daemon registers its
  // tokens when it starts, and its first requests often only read.
  const unsearched = new Set<RegisteredSecret>()
  let size = 0
  let totalBytes = 0

  function searchNewSecrets(): void {
    if (unsearched.size === 0) return
    for (const secret of unsearched) {
      secret.forms = formsOf(secret)
      text.add(secret.forms.asText)
      bytes.add(secret.forms.asBytes)
    }
    unsearched.clear()
  }

  function redactText(text: string): string {
    searchNewSecrets()
    const from = filter.next(text, 0)
    if (from !== -1) return maskSpans(text, mergeSpans(inText.find(text, from), guess(text, from)))
    if (size === 0 || !inText.mayBeEscaped(text)) return text
    return maskSpans(text, inText.find(text, text.length))
  }

  function redactKey(key: string): string {
    if (cleanKeys.has(key)) return key
    const redacted = redactText(key)
    if (redacted === key && key.length <= maxCleanKeyLength && cleanKeys.size < maxCleanKeys)
      cleanKeys.add(key)
    return redacted
  }

  function spansIn(bytes: Uint8Array, text: string): readonly Span[] {
    searchNewSecrets()
    const guessed = guess(text)
    return mergeSpans(inBytes.find(text), guessed.length > 0 && isUtf8(bytes) ? guessed : noSpans)
  }

  function redactBytes(bytes: Uint8Array): RedactedBytes {
    const text = view(bytes).toString('latin1')
    const spans = spansIn(bytes, text)
    if (spans.length === 0) return { bytes, redacted: false }
    return { bytes: new Uint8Array(Buffer.from(maskSpans(text, spans), 'latin1')), redacted: true }
  }

  const rules = {
    text: redactText,
    key: redactKey,
    bytes: (bytes: Uint8Array) => view(redactBytes(bytes).bytes).toString('base64'),
  }

  return {
    get size() {
      return size
    },
    add(name, value) {
      if (typeof name !== 'string') throw invalid('a name as a string', `a ${typeof name}`)
      const length = secretLength(value)
      if (size >= maxSecrets) throw limitReached(`at most ${maxSecrets} secrets at a time`, 'one more')
      if (totalBytes + length > maxTotalBytes)
        throw limitReached(`secrets of at most ${maxTotalBytes} bytes in all`, `${totalBytes + length}`)
      const secret: RegisteredSecret = { name, value }
      unsearched.add(secret)
      cleanKeys.clear()
      size++
      totalBytes += length
      let registered = true
      return () => {
        if (!registered) return
        registered = false
        size--
        totalBytes -= length
        if (unsearched.delete(secret) || secret.forms === undefined) return
        text.remove(secret.forms.asText)
        bytes.remove(secret.forms.asBytes)
      }
    },
    redactText,
    redactValue: (value) => copyJson(value, rules),
    redactBytes,
    redactExcerpt(bytes, start, end) {
      const text = view(bytes).toString('latin1')
      const inside = spansIn(bytes, text)
        .map((span) => ({ ...span, start: Math.max(span.start, start), end: Math.min(span.end, end) }))
        .filter((span) => span.start < span.end)
        .map((span) => ({ ...span, start: span.start - start, end: span.end - start }))
      return Buffer.from(maskSpans(text.slice(start, end), inside), 'latin1')
    },
    redactContinued(bytes, start) {
      searchNewSecrets()
      const after = bytes.subarray(start)
      const text = view(bytes).toString('latin1')
      const beginning = text.slice(0, start + beginningLength)
      // Almost no cut has a candidate beside it, and looking for one is much faster than a search.
      if (bytesFilter.next(beginning, 0) === -1 && !inBytes.mayBeEscaped(beginning))
        return { bytes: after, redacted: false }
      const inside = spansIn(bytes, text)
        .filter((span) => span.start < start && span.end > start)
        .map((span) => ({ ...span, start: 0, end: span.end - start }))
      if (inside.length === 0) return { bytes: after, redacted: false }
      return { bytes: Buffer.from(maskSpans(text.slice(start), inside), 'latin1'), redacted: true }
    },
    stream() {
      const { push, release, end } = createStreamRedactor({ inText, inBytes, guess, rules })
      return {
        push(value, channels) {
          searchNewSecrets()
          return push(value, channels)
        },
        release() {
          searchNewSecrets()
          return release()
        },
        end() {
          searchNewSecrets()
          return end()
        },
      }
    },
  }
}

interface RegisteredSecret {
  readonly name: string
  readonly value: string
  /** Undefined until they are searched for. */
  forms?: { readonly asText: NamedForms; readonly asBytes: NamedForms }
}

function formsOf({ name, value }: RegisteredSecret): Required<RegisteredSecret>['forms'] {
  const forms = secretForms(value)
  const wrapped = wrappedForms(value)
  const unescaped = unescapedForms(value)
  const shown = shownName(name, [...forms, ...wrapped])
  return {
    asText: {
      name: shown,
      forms: [...forms, ...restForms(value)],
      wrapped,
      starts: unescapedStarts(unescaped),
    },
    asBytes: {
      name: shown,
      forms: [...forms.map(utf8AsLatin1), ...unescaped],
      wrapped: unescapedWrappedForms(wrapped),
    },
  }
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The name is committed as part of the marker, so it must not contain the secret itself. */
function shownName(name: string, forms: readonly string[]): string {
  const clean = name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64)
  return clean === '' || forms.some((form) => clean.includes(form)) ? 'secret' : clean
}

/** The bytes of a value that can be masked; throws if it is too short or too long. */
function secretLength(value: unknown): number {
  if (typeof value !== 'string')
    throw invalid('a secret as a string', value === undefined ? 'nothing' : `a ${typeof value}`)
  if (value.length < shortestForm) {
    throw new VitrineError(
      'secret_too_short',
      `Expected a secret of ${shortestForm} characters or more, got ${value.length}.`,
    )
  }
  const bytes = Buffer.byteLength(value)
  if (bytes > maxSecretBytes) throw invalid(`a secret of at most ${maxSecretBytes} bytes`, `${bytes}`)
  return bytes
}

function limitReached(expected: string, got: string): VitrineError {
  const message = `Expected ${expected}, got ${got}; a value that cannot be masked is not used.`
  return new VitrineError('secret_limit', message)
}

function invalid(expected: string, got: string): VitrineError {
  return new VitrineError('argument_invalid', `Expected ${expected}, got ${got}.`)
}
