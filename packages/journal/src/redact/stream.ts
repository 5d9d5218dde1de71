import type { JsonValue } from '@vitrine/protocol'
import { type CopyRules, copyJson, type JsonCopy } from './copy.ts'
import type { GramFilter } from './grams.ts'
import { type Leaf, putLeaf, visitLeaves } from './leaves.ts'
import {
  close,
  commit,
  decide,
  extend,
  type PartialMatch,
  remembered,
  shortestHeld,
  type TextPart,
} from './partial-match.ts'
import type { Scanner } from './scanner.ts'
import { createPlaces } from './secret-positions.ts'
import { maskSpans, mergeSpans, type Span } from './span.ts'

/**
 * Masks secrets that are split over consecutive values: a text may go on in the text at the same path of a
 * later value. Use one for each thing that goes on by itself: one process's stdout, one agent's messages.
 */
export interface StreamRedactor {
  /** Takes the next value; gives those that may be committed now, in order, and whether any wait. */
  push(value: unknown): StreamStep
  /** Gives up waiting; call it 200 ms after `push` said `holding`. What comes later is still masked. */
  release(): JsonValue[]
  /** The stream is over: gives what waits and forgets everything. */
  end(): JsonValue[]
}

export interface StreamStep {
  readonly ready: JsonValue[]
  readonly holding: boolean
}

export interface StreamParts {
  readonly filter: GramFilter
  readonly inText: Scanner
  readonly inBytes: Scanner
  readonly guess: (text: string) => readonly Span[]
  readonly rules: CopyRules
}

/** A value that may have to wait; `size` is what it counts for while it does. */
interface Entry {
  readonly root: JsonCopy[]
  readonly texts: EntryText[]
  size: number
}

interface EntryText extends Pick<Leaf<PartialMatch>, 'holder' | 'key'> {
  readonly cell: TextPart
  readonly guessed: readonly Span[]
  readonly isBytes: boolean
}

const maxHeldSize = 64 * 1024
const maxPlaces = 10_000

export function createStreamRedactor({ filter, inText, inBytes, guess, rules }: StreamParts): StreamRedactor {
  const keysOnly: CopyRules = { ...rules, text: (text) => text }
  const queue: Entry[] = []
  let places = createPlaces<PartialMatch>()
  let heldSize = 0

  function take(leaf: Leaf<PartialMatch>, entry: Entry): void {
    const bytes = decoded(leaf)
    const text = bytes ?? leaf.text
    if (text === '') return
    const scanner = bytes === undefined ? inText : inBytes
    const carry = continued(leaf.place?.state, scanner)
    const whole = carry === undefined ? text : carry.text + text
    const first = filter.next(whole, 0)
    if (first === -1 && (carry === undefined || carry.parts.length === 0)) {
      const { pending } = scanner.scan(whole, Math.max(0, whole.length - shortestHeld + 1))
      remember(leaf, pending === whole.length ? undefined : remembered(whole.slice(pending), scanner))
      return
    }
    const cell: TextPart = { text, spans: [], carry: undefined }
    remember(leaf, extend(carry, cell, scanner, scanner.scan(whole, Math.max(first, 0))))
    entry.texts.push({
      cell,
      guessed: guess(text),
      isBytes: bytes !== undefined,
      holder: leaf.holder,
      key: leaf.key,
    })
  }

  function remember({ place, path }: Leaf<PartialMatch>, carry: PartialMatch | undefined): void {
    if (place !== undefined) place.state = carry
    else if (carry !== undefined) places.at(path).state = carry
  }

  function finish({ root, texts, size }: Entry): JsonValue {
    for (const { cell, guessed, isBytes, holder, key } of texts) {
      const spans = mergeSpans(cell.spans, guessed)
      commit(cell)
      if (spans.length === 0) continue
      const masked = maskSpans(cell.text, spans)
      putLeaf(holder, key, isBytes ? Buffer.from(masked, 'latin1').toString('base64') : masked)
    }
    heldSize -= size
    return root[0] ?? null
  }

  function openCarries(): Set<PartialMatch> {
    const cells = queue.flatMap(({ texts }) => texts.map(({ cell }) => cell))
    return new Set(cells.flatMap(({ carry }) => carry ?? []))
  }

  function release(): JsonValue[] {
    for (const carry of openCarries()) decide(carry)
    return queue.splice(0).map(finish)
  }

  function forget(): void {
    for (const carry of openCarries()) close(carry)
    places = createPlaces()
  }

  return {
    push(value) {
      if (places.size > maxPlaces) forget()
      const entry: Entry = { root: [copyJson(value, keysOnly)], texts: [], size: 0 }
      visitLeaves(entry.root, places.root, (leaf) => take(leaf, entry))
      queue.push(entry)
      const blocked = queue.findIndex(isBlocked)
      const ready = queue.splice(0, blocked === -1 ? queue.length : blocked).map(finish)
      if (queue.length > 0) {
        entry.size = JSON.stringify(entry.root).length
        heldSize += entry.size
      }
      if (heldSize > maxHeldSize) ready.push(...release())
      return { ready, holding: queue.length > 0 }
    },
    release,
    end() {
      const last = release()
      places = createPlaces()
      return last
    },
  }
}

function isBlocked({ texts }: Entry): boolean {
  return texts.some(({ cell }) => cell.carry !== undefined)
}

/** Text goes on in bytes, and bytes in text, as long as one character is one byte. */
function continued(carry: PartialMatch | undefined, scanner: Scanner): PartialMatch | undefined {
  if (carry === undefined || carry.scanner === scanner) return carry
  if (Buffer.byteLength(carry.text) === carry.text.length) return carry
  close(carry)
  return undefined
}

/** The bytes of `data` beside `encoding: 'base64'`, each as one character. */
function decoded({ text, holder, key }: Leaf<PartialMatch>): string | undefined {
  if (key !== 'data' || Array.isArray(holder) || holder.encoding !== 'base64') return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes.toString('latin1') : undefined
}
