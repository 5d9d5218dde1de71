import { VitrineError } from '@vitrine/protocol'
import { requireWholeNumber, shown } from '@vitrine/protocol/primitives'
import { editScript } from './edit-script.ts'

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  /** Without its line break. */
  readonly text: string
  /** It is the last line of its text, which does not end with a line break. */
  readonly unended?: true
}

/** Changed lines with the equal lines around them. */
export interface DiffHunk {
  /** The first line in each text, from 1; of an empty range the line before it. */
  readonly before: { readonly line: number; readonly count: number }
  readonly after: { readonly line: number; readonly count: number }
  readonly lines: readonly DiffLine[]
}

export interface TextDiff {
  /** The number of lines. */
  readonly added: number
  readonly removed: number
  /** Empty if the texts are equal. */
  readonly hunks: readonly DiffHunk[]
  /** The texts differ so much that the search for the shortest difference was ended early; it is correct but longer. */
  readonly approximate?: true
}

export interface DiffTextOptions {
  /** Equal lines around a change; default 3. */
  readonly context?: number
  /** Limits the work; default 5,000,000 compared lines. */
  readonly maxSteps?: number
  /** Limits the memory: a text with more lines is refused, unless the texts are equal. Default 1,000,000. */
  readonly maxLines?: number
}

/**
 * The difference of two texts by lines. Time and memory are bounded: beyond `maxSteps` the result is correct, but not the
 * shortest one; a text of more than `maxLines` is refused.
 *
 * @example
 * diffText('one\ntwo\n', 'one\n2\n').hunks[0]?.lines // same one, removed two, added 2
 */
export function diffText(
  before: string,
  after: string,
  { context = 3, maxSteps = 5_000_000, maxLines = 1_000_000 }: DiffTextOptions = {},
): TextDiff {
  requireText('before', before)
  requireText('after', after)
  requireWholeNumber('context', context)
  requireWholeNumber('maxSteps', maxSteps)
  requireWholeNumber('maxLines', maxLines)
  if (before === after) return { added: 0, removed: 0, hunks: [] }
  const beforeLines = linesOf('before', before, maxLines)
  const afterLines = linesOf('after', after, maxLines)
  const numbers = new Map<string, number>()
  const numbersOf = (lines: readonly string[]) =>
    Int32Array.from(lines, (line) => {
      const known = numbers.get(line) ?? numbers.size
      numbers.set(line, known)
      return known
    })
  const script = editScript(numbersOf(beforeLines), numbersOf(afterLines), maxSteps)
  const blocks = changedBlocks(script.removed, script.added)
  return {
    added: count(script.added),
    removed: count(script.removed),
    hunks: groups(blocks, context).map((group) => hunkOf(beforeLines, afterLines, group, context)),
    ...(!script.shortest && { approximate: true }),
  }
}

/**
 * A diff in the unified format, as `git diff` and `patch` read it.
 *
 * @example
 * unifiedDiff(diffText(before, after), { before: 'a/app.ts', after: 'b/app.ts' })
 */
export function unifiedDiff(
  { hunks }: Pick<TextDiff, 'hunks'>,
  names: { readonly before: string; readonly after: string } = { before: 'before', after: 'after' },
): string {
  if (hunks.length === 0) return ''
  const signs = { same: ' ', removed: '-', added: '+' } as const
  const lines = hunks.flatMap(({ before, after, lines }) => [
    `@@ -${rangeText(before)} +${rangeText(after)} @@`,
    ...lines.flatMap(({ kind, text, unended }) => [
      `${signs[kind]}${text}`,
      ...(unended ? ['\\ No newline at end of file'] : []),
    ]),
  ])
  return `${[`--- ${quoted(names.before)}`, `+++ ${quoted(names.after)}`, ...lines].join('\n')}\n`
}

/** A name with a control character, a quote or a backslash, as git writes it. */
function quoted(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a path may have any byte but NUL.
  const special = /[\x00-\x1f\x7f"\\]/g
  if (!special.test(name)) return name
  const escaped = name.replace(special, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `"${escaped}"`
}

function rangeText({ line, count }: DiffHunk['before']): string {
  return count === 1 ? `${line}` : `${line},${count}`
}

/** Bytes have no lines, and a caller in JavaScript may pass them. */
function requireText(field: string, text: string): void {
  if (typeof text === 'string') return
  const got = ArrayBuffer.isView(text) ? 'bytes' : shown(text)
  throw new VitrineError('argument_invalid', `${field}: expected a string, got ${got}.`, {
    details: { path: field },
  })
}

/** The lines with their line breaks, so that a missing one at the end is a difference. */
function linesOf(field: string, text: string, maxLines: number): string[] {
  const lines: string[] = []
  for (let from = 0; from < text.length; ) {
    if (lines.length === maxLines)
      throw new VitrineError(
        'argument_invalid',
        `${field}: expected at most ${maxLines} lines; compare parts of the text, or raise maxLines.`,
        { details: { path: field } },
      )
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end + 1
    lines.push(text.slice(from, to))
    from = to
  }
  return lines
}

/** A range of lines of the first text that a range of the second replaces; ends are exclusive. */
interface Block {
  readonly fromA: number
  readonly toA: number
  readonly fromB: number
  readonly toB: number
}

function changedBlocks(removed: Uint8Array, added: Uint8Array): Block[] {
  const blocks: Block[] = []
  for (let a = 0, b = 0; a < removed.length || b < added.length; ) {
    if (removed[a] !== 1 && added[b] !== 1) {
      a += 1
      b += 1
      continue
    }
    const [fromA, fromB] = [a, b]
    while (removed[a] === 1) a += 1
    while (added[b] === 1) b += 1
    blocks.push({ fromA, toA: a, fromB, toB: b })
  }
  return blocks
}

/** Blocks whose context would touch are one group. */
function groups(blocks: readonly Block[], context: number): Block[][] {
  const found: Block[][] = []
  for (const block of blocks) {
    const last = found.at(-1)
    const previous = last?.at(-1)
    if (last !== undefined && previous !== undefined && block.fromA - previous.toA <= 2 * context)
      last.push(block)
    else found.push([block])
  }
  return found
}

function hunkOf(
  before: readonly string[],
  after: readonly string[],
  blocks: readonly Block[],
  context: number,
): DiffHunk {
  const [first, last] = [blocks[0]!, blocks.at(-1)!]
  const lead = Math.min(context, first.fromA)
  const tail = Math.min(context, before.length - last.toA)
  const lines: DiffLine[] = []
  let a = first.fromA - lead
  const same = (until: number) => {
    for (; a < until; a += 1) lines.push(lineOf('same', before[a]!))
  }
  for (const { fromA, toA, fromB, toB } of blocks) {
    same(fromA)
    for (; a < toA; a += 1) lines.push(lineOf('removed', before[a]!))
    for (let b = fromB; b < toB; b += 1) lines.push(lineOf('added', after[b]!))
  }
  same(last.toA + tail)
  return {
    before: rangeOf(first.fromA - lead, last.toA + tail),
    after: rangeOf(first.fromB - lead, last.toB + tail),
    lines,
  }
}

function rangeOf(from: number, to: number): DiffHunk['before'] {
  return { line: to > from ? from + 1 : from, count: to - from }
}

function lineOf(kind: DiffLine['kind'], text: string): DiffLine {
  return text.endsWith('\n') ? { kind, text: text.slice(0, -1) } : { kind, text, unended: true }
}

function count(marks: Uint8Array): number {
  let total = 0
  for (const mark of marks) total += mark
  return total
}
