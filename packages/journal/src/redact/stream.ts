import type { JsonValue } from '@vitrine/protocol'
import { type Carry, type Cell, close, commit, extend, settle } from './carry.ts'
import { type CopyRules, copyJson, type JsonCopy } from './copy.ts'
import { type Leaf, visitLeaves } from './leaves.ts'
import type { Scanner } from './scanner.ts'
import { maskSpans, mergeSpans, type Span } from './span.ts'

/**
 * Masks secrets that are split over consecutive values: a text may go on in the text at the same path of a
 * later value. Use one for each thing that goes on by itself: one process's stdout, one agent's messages.
 */
export interface StreamRedactor {
  /** Takes the next value; gives those that may be committed now, in order, and whether any wait. */
  push(value: unknown): { readonly ready: JsonValue[]; readonly holding: boolean }
  /** Gives up waiting; call it 200 ms after `push` said `holding`. What comes later is still masked. */
  release(): JsonValue[]
  /** The stream is over: gives what waits and forgets everything. */
  end(): JsonValue[]
}

export interface StreamParts {
  readonly inText: Scanner
  readonly inBytes: Scanner
  readonly guess: (text: string) => readonly Span[]
  readonly rules: CopyRules
}

/** A value that may have to wait; `size` is what it counts for while it does. */
interface Entry {
  readonly root: { value: JsonCopy }
  readonly texts: { readonly leaf: Leaf; readonly cell: Cell; readonly isBytes: boolean }[]
  size: number
}

/** A shorter beginning stands at the end of too many texts to wait for. */
const shortestHeld = 4
const maxHeldSize = 64 * 1024
const maxPaths = 1_000

export function createStreamRedactor({ inText, inBytes, guess, rules }: StreamParts): StreamRedactor {
  const carries = new Map<string, Carry>()
  const queue: Entry[] = []
  let heldSize = 0

  function take(leaf: Leaf, entry: Entry): void {
    const bytes = leaf.isBase64 ? decoded(leaf.text) : undefined
    const cell: Cell = { text: bytes ?? leaf.text, spans: [], carry: undefined }
    if (cell.text === '') return
    entry.texts.push({ leaf, cell, isBytes: bytes !== undefined })
    const scanner = bytes === undefined ? inText : inBytes
    const carry = carries.get(leaf.path)
    const next = extend(carry && goesOnWith(carry, scanner) ? carry : undefined, cell, scanner)
    if (carry !== undefined) carries.delete(leaf.path)
    if (next !== undefined) remember(leaf.path, next)
  }

  function remember(path: string, carry: Carry): void {
    carries.set(path, carry)
    if (carries.size <= maxPaths) return
    for (const [oldest, forgotten] of carries) {
      close(forgotten)
      carries.delete(oldest)
      break
    }
  }

  function finish({ root, texts, size }: Entry): JsonValue {
    for (const { leaf, cell, isBytes } of texts) {
      const spans = mergeSpans(cell.spans, guess(cell.text))
      if (spans.length > 0) {
        const masked = maskSpans(cell.text, spans)
        leaf.put(isBytes ? Buffer.from(masked, 'latin1').toString('base64') : masked)
      }
      commit(cell)
    }
    heldSize -= size
    return root.value
  }

  function release(): JsonValue[] {
    for (const carry of carries.values()) settle(carry)
    return queue.splice(0).map(finish)
  }

  return {
    push(value) {
      const entry: Entry = {
        root: { value: copyJson(value, { ...rules, text: (text) => text }) },
        texts: [],
        size: 0,
      }
      visitLeaves(entry.root, (leaf) => take(leaf, entry))
      queue.push(entry)
      const blocked = queue.findIndex(isBlocked)
      const ready = queue.splice(0, blocked === -1 ? queue.length : blocked).map(finish)
      if (queue.length > 0) {
        entry.size = JSON.stringify(entry.root.value).length
        heldSize += entry.size
      }
      if (heldSize > maxHeldSize) ready.push(...release())
      return { ready, holding: queue.length > 0 }
    },
    release,
    end() {
      const last = release()
      carries.clear()
      return last
    },
  }
}

function isBlocked({ texts }: Entry): boolean {
  return texts.some(({ cell }) => cell.carry !== undefined && cell.carry.text.length >= shortestHeld)
}

/** Whether text may be followed by bytes, or bytes by text: as long as one character is one byte. */
function goesOnWith(carry: Carry, scanner: Scanner): boolean {
  if (carry.scanner === scanner || Buffer.byteLength(carry.text) === carry.text.length) return true
  close(carry)
  return false
}

/** Bytes one by one as characters; undefined when the text is not base64 after all. */
function decoded(text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes.toString('latin1') : undefined
}
