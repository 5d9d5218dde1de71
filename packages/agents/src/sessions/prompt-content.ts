import { type ContentBlock, type JsonObject, VitrineError } from '@vitrine/protocol'
import { objectIn, textIn } from './fields.ts'

/** Adapts blocks to the agent's capabilities: an embedded text becomes a text block, unsupported media is an error. */
export function fitBlocks(
  agent: string,
  blocks: readonly ContentBlock[],
  capabilities: JsonObject | undefined,
): ContentBlock[] {
  return blocks.map((block) => {
    if (block.type === 'image' || block.type === 'audio') {
      if (capabilities?.[block.type] === true) return block
      throw new VitrineError(
        'unsupported',
        `The agent ${agent} does not accept ${block.type} content in a prompt.`,
      )
    }
    if (block.type !== 'resource' || capabilities?.embeddedContext === true) return block
    const text = textIn(block.resource, 'text')
    if (text === undefined)
      throw new VitrineError(
        'unsupported',
        `The agent ${agent} does not accept embedded binary files in a prompt.`,
      )
    return { type: 'text', text: `${textIn(block.resource, 'uri') ?? 'A file'}:\n\n${text}` }
  })
}

/** Blocks for `turn.started`: texts in full, other content only by type and size. */
export function shownBlocks(blocks: readonly ContentBlock[]): JsonObject[] {
  return blocks.map((block) => {
    if (block.type === 'text') return { type: 'text', text: textIn(block, 'text') ?? '' }
    const inner = objectIn(block, 'resource') ?? block
    const payload = textIn(inner, 'data') ?? textIn(inner, 'blob')
    const text = textIn(inner, 'text')
    const fields: Record<string, string | number | undefined> = {
      mimeType: textIn(inner, 'mimeType'),
      uri: textIn(inner, 'uri'),
      name: textIn(block, 'name'),
      bytes:
        payload !== undefined
          ? Buffer.byteLength(payload, 'base64')
          : text !== undefined
            ? Buffer.byteLength(text)
            : undefined,
    }
    return {
      type: block.type,
      ...Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)),
    }
  })
}
