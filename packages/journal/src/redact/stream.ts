import type { JsonValue } from '@vitrine/protocol'
import { type CopyRules, copyJson, type JsonCopy } from './copy.ts'
import { createJsonPathTree } from './json-path-tree.ts'
import { type Leaf, setLeaf, visitLeaves } from './leaves.ts'
import {
  closePartial,
  committedPartial,
  detachPart,
  extendPartial,
  type PartialMatch,
  resolvePartial,
  type TextPart,
} from './partial-match.ts'
import type { OpenScan } from './scanner.ts'
import type { EscapedSearch } from './search-unescaped.ts'
import { maskSpans, mergeSpans, noSpans, type Span, unionSpans } from './span.ts'

/**
 * Masks secrets that are split over consecutive values: a text may continue in the text at the same path of a later
 * value of the same channel. Use one per stream whose order matters: one process's stdout, one agent's messages.
 */
export interface StreamRedactor {
  /**
   * Adds the next value. Returns the values that may be committed now, in order, and whether any are held back. Values
   * of different channels, such as the sessions of one agent, do not continue each other. A value of several channels
   * continues each of them.
   */
  push(value: unknown, channels?: string | readonly string[]): StreamStep
  /** Returns all values held back; call it 200 ms after `push` returned `holding`. Later parts are still masked. */
  release(): JsonValue[]
  /** Ends the stream: returns all values held back and clears the state. */
  end(): JsonValue[]
}

export interface StreamStep {
  readonly ready: JsonValue[]
  readonly holding: boolean
}

export interface StreamParts {
  readonly inText: EscapedSearch
  readonly inBytes: EscapedSearch
  readonly guess: (text: string) => readonly Span[]
  readonly rules: CopyRules
}

/** A value that may be held back; `size` counts towards `maxHeldSize` while it is. */
interface QueuedValue {
  readonly root: JsonCopy[]
  readonly texts: QueuedText[]
  size: number
}

interface QueuedText extends Pick<Leaf<PartialMatch>, 'container' | 'key'> {
  readonly text: string
  /** The text as a part of each channel that may have a secret in it. */
  readonly textParts: readonly TextPart[]
  readonly guessed: readonly Span[]
  readonly isBytes: boolean
}

const maxHeldSize = 64 * 1024
/** Writers choose paths and channels, so the memory for them is bounded. */
const maxPathNodes = 10_000
const maxChannels = 1_000
const maxKeyLength = 1024 * 1024

export function createStreamRedactor({ inText, inBytes, guess, rules }: StreamParts): StreamRedactor {
  const keysOnly: CopyRules = { ...rules, text: (text) => text }
  const queue: QueuedValue[] = []
  let tree = createJsonPathTree<PartialMatch>()
  let heldSize = 0

  function scanLeaf(leaf: Leaf<PartialMatch>, channels: readonly string[], entry: QueuedValue): void {
    const bytes = decoded(leaf)
    const text = bytes ?? leaf.text
    if (text === '') return
    const scanner = bytes === undefined ? inText : inBytes
    let textParts: TextPart[] | undefined
    let lastWhole = ''
    let lastHasHeldParts = false
    let found: OpenScan | number = 0
    if (leaf.nodes.length === 0) {
      // Most texts continue nothing and have nothing to mask.
      found = scanText(scanner, text, false)
      if (found === text.length) return
      lastWhole = text
    }
    for (let index = 0; index < channels.length; index++) {
      const node = leaf.nodes[index]
      const partial = continued(node?.state, scanner)
      const whole = partial === undefined ? text : partial.text + text
      const hasHeldParts = partial !== undefined && partial.parts.length > 0
      // Channels with the same open text share a scan.
      if (whole !== lastWhole || hasHeldParts !== lastHasHeldParts)
        found = scanText(scanner, whole, hasHeldParts)
      lastWhole = whole
      lastHasHeldParts = hasHeldParts
      let next: PartialMatch | undefined
      if (typeof found === 'number') {
        next = found === whole.length ? undefined : committedPartial(whole.slice(found), scanner)
      } else {
        const textPart: TextPart = { text, spans: [], partial: undefined }
        textParts ??= []
        textParts.push(textPart)
        next = extendPartial(partial, textPart, scanner, found)
      }
      if (node !== undefined) node.state = next
      else if (next !== undefined) tree.at([channels[index]!, ...leaf.path]).state = next
    }
    if (textParts === undefined) return
    const { container, key } = leaf
    entry.texts.push({ text, textParts, guessed: guess(text), isBytes: bytes !== undefined, container, key })
  }

  function finish({ root, texts, size }: QueuedValue): JsonValue {
    for (const { text, textParts, guessed, isBytes, container, key } of texts) {
      const known = textParts.reduce<readonly Span[]>(
        (all, { spans }) => mergeSpans(all, unionSpans(spans)),
        noSpans,
      )
      const spans = mergeSpans(known, guessed)
      for (const textPart of textParts) detachPart(textPart)
      if (spans.length === 0) continue
      const masked = maskSpans(text, spans)
      setLeaf(container, key, isBytes ? Buffer.from(masked, 'latin1').toString('base64') : masked)
    }
    heldSize -= size
    return root[0] ?? null
  }

  function openPartials(): Set<PartialMatch> {
    const textParts = queue.flatMap(({ texts }) => texts.flatMap(({ textParts }) => textParts))
    return new Set(textParts.flatMap(({ partial }) => partial ?? []))
  }

  function release(): JsonValue[] {
    for (const partial of openPartials()) resolvePartial(partial)
    return queue.splice(0).map(finish)
  }

  /** Forgets the least recently used channels that hold nothing back; all of them if that is not enough. */
  function limitPaths(): void {
    if (isWithin(1)) return
    tree.prune(
      ({ parts }) => parts.length > 0,
      () => isWithin(0.5),
    )
    if (!isWithin(1)) forget()
  }

  function isWithin(share: number): boolean {
    const { root, size, keyLength } = tree
    return (
      size <= maxPathNodes * share &&
      root.inner.size <= maxChannels * share &&
      keyLength <= maxKeyLength * share
    )
  }

  function forget(): void {
    for (const partial of openPartials()) closePartial(partial)
    tree = createJsonPathTree()
  }

  return {
    push(value, channels = '') {
      const names = typeof channels === 'string' ? [channels] : channels
      limitPaths()
      const entry: QueuedValue = { root: [copyJson(value, keysOnly)], texts: [], size: 0 }
      const roots = names.map((name) => tree.use(name))
      visitLeaves(entry.root, roots, (leaf) => scanLeaf(leaf, names, entry))
      if (queue.length === 0 && !isBlocked(entry)) return { ready: [finish(entry)], holding: false }
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
      tree = createJsonPathTree()
      return last
    },
  }
}

/** Scans a text; returns the index of its open end if it has nothing to mask or to hold back. */
function scanText(scanner: EscapedSearch, text: string, hasHeldParts: boolean): OpenScan | number {
  const first = scanner.firstCandidate(text)
  if (first !== -1 || hasHeldParts) return scanner.scan(text, Math.max(first, 0))
  return scanner.openEnd(text) ?? scanner.scan(text, text.length)
}

function isBlocked({ texts }: QueuedValue): boolean {
  return texts.some(({ textParts }) => textParts.some(({ partial }) => partial !== undefined))
}

/** A match can continue from text into bytes and back only while one character is one byte. */
function continued(partial: PartialMatch | undefined, scanner: EscapedSearch): PartialMatch | undefined {
  if (partial === undefined || partial.scanner === scanner) return partial
  if (Buffer.byteLength(partial.text) === partial.text.length) return partial
  closePartial(partial)
  return undefined
}

/** The decoded bytes of a `data` field next to `encoding: 'base64'`, one character per byte. */
function decoded({ text, container, key }: Leaf<PartialMatch>): string | undefined {
  if (key !== 'data' || Array.isArray(container) || container.encoding !== 'base64') return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes.toString('latin1') : undefined
}
