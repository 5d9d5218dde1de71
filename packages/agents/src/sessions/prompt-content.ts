import { type ContentBlock, type JsonObject, VitrineError } from '@vitrine/protocol'
import { objectIn, textIn } from './fields.ts'

const known = ['text', 'image', 'audio', 'resource', 'resource_link']

/** A prompt as the agent gets it. */
export function promptBlocks(content: string | readonly ContentBlock[]): ContentBlock[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : [...content]
  if (blocks.length === 0) throw new VitrineError('argument_invalid', 'content: the prompt is empty.')
  for (const [index, block] of blocks.entries()) {
    if (known.includes(block?.type)) continue
    throw new VitrineError(
      'argument_invalid',
      `content[${index}].type: expected ${known.join(', ')}, got ${JSON.stringify(block?.type)}.`,
    )
  }
  return blocks
}

/** What this agent takes: an embedded text that it cannot take is told as text, a picture cannot be. */
export function fitBlocks(
  agent: string,
  blocks: readonly ContentBlock[],
  capabilities: JsonObject | undefined,
): ContentBlock[] {
  return blocks.map((block) => {
    if (block.type === 'image' || block.type === 'audio') {
      if (capabilities?.[block.type] === true) return block
      throw new VitrineError('unsupported', `The agent ${agent} takes no ${block.type} in a prompt.`)
    }
    if (block.type !== 'resource' || capabilities?.embeddedContext === true) return block
    const text = textIn(block.resource, 'text')
    if (text === undefined)
      throw new VitrineError('unsupported', `The agent ${agent} takes no embedded files in a prompt.`)
    return { type: 'text', text: `${textIn(block.resource, 'uri') ?? 'A file'}:\n\n${text}` }
  })
}

/** For the record of the turn: the texts, and of everything else what and how large it is. */
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
