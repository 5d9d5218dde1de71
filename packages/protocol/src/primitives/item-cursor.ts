import { VitrineError } from '../errors/vitrine-error.ts'
import type { JournalItem } from '../events/envelope.ts'
import { idPattern } from '../ids.ts'
import { shown } from '../shown.ts'
import { isWholeNumber } from './whole-number.ts'

/** The position of an item as its cursor says it: the store checks that it has this item. */
export interface ItemPosition {
  readonly journal: string
  readonly seq: number
  /** The event's time in milliseconds; undefined for a gap. */
  readonly time: number | undefined
}

/**
 * The cursor of an item of a journal, made from the item alone. A client cannot make a store's own cursor: that contains
 * a random value of the journal, which items do not have.
 */
export function itemCursor(journal: string, item: JournalItem): string {
  const text = itemText(journal, item)
  return `i.${checksum(text)}.${text}`
}

/** The cursor of an item of all journals, made from the item alone. It is not valid in one journal. */
export function itemCursorOfAll(item: JournalItem): string {
  const text = itemText(item?.journal, item)
  return `a.${checksum(`a.${text}`)}.${text}`
}

function itemText(journal: string, item: JournalItem): string {
  const seq = itemSeq(journal, item)
  const time = 'seq' in item ? Date.parse(item.time) : undefined
  if (Number.isNaN(time)) throw invalidItem('time: expected a time', item)
  return `${seq.toString(36)}.${time?.toString(36) ?? '-'}.${journal}`
}

/** The `seq` of an event, or the last one of a gap. Refuses items of other journals. */
export function itemSeq(
  journal: string,
  item: { readonly journal?: string } & (
    | { readonly seq: number }
    | { readonly data: { readonly to: number } }
  ),
): number {
  if (typeof item !== 'object' || item === null) throw invalidItem('expected an event or a gap', item)
  if (item.journal !== undefined && item.journal !== journal)
    throw new VitrineError(
      'cursor_foreign',
      `The item belongs to the journal ${shown(item.journal)}, not to ${journal}.`,
    )
  const seq: unknown = 'seq' in item ? item.seq : item.data?.to
  if (!isWholeNumber(seq)) throw invalidItem('seq: expected a whole number', item)
  return seq
}

const form = /^([ia]\.)([0-9a-z]{1,7})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11}|-)\.(.+)$/

/** The position in an item's cursor; undefined if the text is not one. */
export function parseItemCursor(cursor: string): ItemPosition | undefined {
  return parse(cursor, 'i.')
}

/** The same for an item of all journals. */
export function parseItemCursorOfAll(cursor: string): ItemPosition | undefined {
  return parse(cursor, 'a.')
}

function parse(cursor: string, prefix: 'i.' | 'a.'): ItemPosition | undefined {
  const [, kind, sum, seqText = '', timeText = '', journal = ''] = form.exec(cursor) ?? []
  const text = `${seqText}.${timeText}.${journal}`
  if (kind !== prefix || checksum(prefix === 'a.' ? `a.${text}` : text) !== sum) return undefined
  const seq = Number.parseInt(seqText, 36)
  const time = timeText === '-' ? undefined : Number.parseInt(timeText, 36)
  const isValid = idPattern.test(journal) && isWholeNumber(seq) && isWholeNumber(time ?? 0)
  return isValid ? { journal, seq, time } : undefined
}

/** FNV-1a. Detects truncated or edited cursors, which would point elsewhere. It is no protection against forgery. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(36)
}

function invalidItem(expected: string, item: unknown): VitrineError {
  return new VitrineError('argument_invalid', `item: ${expected}, got ${shown(item)}.`)
}
