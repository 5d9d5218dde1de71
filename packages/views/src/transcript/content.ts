import type { BlobRef } from '@vitrine/protocol'
import { byteLength } from '../byte-length.ts'
import { asFields, countIn, type Fields, fieldsIn, idIn, omitUndefined, textIn } from '../fields.ts'
import { sizeText } from '../text/size.ts'
import { nameIn } from './bounded.ts'

/** A part of a message that is not inline text: an image, a file, or a long text stored as a blob. */
export interface Attachment {
  /** `image`, `audio`, `resource`, `resource_link`, `text`, `terminal`, `blob`, or a type of the agent's own. */
  readonly type: string
  readonly mimeType?: string
  readonly uri?: string
  readonly name?: string
  readonly bytes?: number
  readonly blob?: string
}

export interface Content {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** Further attachments are omitted. */
export const maxAttachments = 50

/** Reads a content block, an array of them, a plain string, or a blob reference. */
export function contentOf(value: unknown): Content {
  const texts: string[] = []
  const attachments: Attachment[] = []
  for (const block of Array.isArray(value) ? value : [value]) {
    const text = typeof block === 'string' ? block : blockText(asFields(block))
    if (text !== undefined) texts.push(text)
    else if (attachments.length < maxAttachments) attachments.push(...attachmentOf(asFields(block)))
  }
  return { text: texts.join('\n'), attachments }
}

/** A short description of an attachment. */
export function attachmentText({ type, name, uri, mimeType, bytes }: Attachment): string {
  const parts = [type, name ?? uri, mimeType, bytes === undefined ? undefined : sizeText(bytes)]
  return `(${parts.filter(Boolean).join(' ')})`
}

/** The blob reference in these fields, if there is one. */
export function blobRefIn(data: Fields): Pick<BlobRef, 'blob' | 'bytes'> | undefined {
  const blob = nameIn(data, 'blob')
  const bytes = countIn(data, 'bytes')
  return blob === undefined || bytes === undefined ? undefined : { blob, bytes }
}

function blockText(block: Fields): string | undefined {
  return idIn(block, 'type') === 'text' ? textIn(block, 'text') : undefined
}

function attachmentOf(block: Fields): Attachment[] {
  const blob = blobRefIn(block) ?? blobRefIn(fieldsIn(block, 'text')) ?? blobRefIn(fieldsIn(block, 'data'))
  const type = nameIn(block, 'type') ?? (blob && 'blob')
  if (type === undefined) return []
  const resource = fieldsIn(block, 'resource')
  const bytes = countIn(block, 'bytes') ?? countIn(block, 'size') ?? dataBytes(block)
  return [
    {
      type,
      ...omitUndefined({
        mimeType: nameIn(block, 'mimeType') ?? nameIn(resource, 'mimeType'),
        uri: nameIn(block, 'uri') ?? nameIn(resource, 'uri'),
        name: nameIn(block, 'name') ?? nameIn(block, 'terminalId'),
        bytes,
      }),
      ...blob,
    },
  ]
}

function dataBytes({ data }: Fields): number | undefined {
  return typeof data === 'string' ? byteLength({ data, encoding: 'base64' }) : undefined
}
