import type { BlobRef } from '@vitrine/protocol'
import { asFields, type Fields, fieldsIn, omitUndefined, textIn } from '../fields.ts'
import { head, nameIn } from './bounded.ts'
import { type Attachment, blobRefIn, contentOf } from './content.ts'

type LongText = string | Pick<BlobRef, 'blob' | 'bytes'>

export interface ToolCallDiff {
  readonly path: string
  /** Absent for a new file. */
  readonly oldText?: LongText
  readonly newText: LongText
}

/** The content of a tool call: text, diffs and attachments. */
export interface ToolCallContent {
  readonly text: string
  readonly diffs: readonly ToolCallDiff[]
  readonly attachments: readonly Attachment[]
}

/** Further diffs are omitted. */
const maxDiffs = 100

export function toolContentOf(
  value: unknown,
  max: number,
): { readonly content: ToolCallContent; readonly cut: boolean } | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map(asFields)
  const { text, attachments } = contentOf(
    items.flatMap((item) => {
      const type = textIn(item, 'type')
      if (type === 'diff') return []
      return type === 'content' ? [item.content] : [item]
    }),
  )
  const all = items.flatMap(diffOf)
  const shownText = head(text, max)
  let remaining = max - shownText.length
  let cut = shownText.length < text.length || all.length > maxDiffs
  const fitted = (long: string) => {
    const part = head(long, remaining)
    remaining -= part.length
    if (part.length < long.length) cut = true
    return part
  }
  const diffs = all.slice(0, maxDiffs).map((diff) => mapTexts(diff, fitted))
  return { content: { text: shownText, diffs, attachments }, cut }
}

function diffOf(item: Fields): ToolCallDiff[] {
  const path = nameIn(item, 'path')
  if (textIn(item, 'type') !== 'diff' || path === undefined) return []
  return [
    {
      path,
      ...omitUndefined({ oldText: longText(item, 'oldText') }),
      newText: longText(item, 'newText') ?? '',
    },
  ]
}

function longText(item: Fields, key: string): LongText | undefined {
  return textIn(item, key) ?? blobRefIn(fieldsIn(item, key))
}

function mapTexts({ path, oldText, newText }: ToolCallDiff, map: (text: string) => string): ToolCallDiff {
  const mapped = (text: LongText) => (typeof text === 'string' ? map(text) : text)
  return { path, ...(oldText !== undefined && { oldText: mapped(oldText) }), newText: mapped(newText) }
}
