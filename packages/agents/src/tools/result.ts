import { type JsonObject, type JsonValue, VitrineError } from '@vitrine/protocol'

/** What a call answers, as the Model Context Protocol has it. */
export type ToolResult = JsonObject & { readonly content: readonly JsonObject[] }

/** What a tool returned, in a form that an agent takes. Throws when JSON cannot carry it. */
export function toolResult(returned: unknown, maxBytes: number): ToolResult {
  if (typeof returned === 'string') return bounded(textResult(returned), maxBytes)
  const json = toJson(returned)
  if (json === undefined) return textResult('')
  const value: JsonValue = JSON.parse(json)
  return bounded(isResult(value) ? value : textResult(json), maxBytes)
}

/** A failure as the model reads it: the message, and nothing of where in the host it happened. */
export function failedResult(message: string, maxBytes: number): ToolResult {
  return { ...bounded(textResult(message), maxBytes), isError: true }
}

/** No block at all for no text: models' APIs refuse an empty one. */
function textResult(text: string): ToolResult {
  return { content: text === '' ? [] : [textBlock(text)] }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new VitrineError('argument_invalid', `The tool returned what JSON cannot carry: ${why}`, {
      cause: error,
    })
  }
}

/** `{ content: 'a text' }` is somebody's own object and not a result. */
function isResult(value: JsonValue): value is ToolResult {
  if (!isObject(value) || !Array.isArray(value.content)) return false
  return value.content.every((block: JsonValue) => isObject(block) && typeof block.type === 'string')
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Blocks from the front as far as they fit, the text at the edge cut, and a note of what is missing. */
function bounded(result: ToolResult, maxBytes: number): ToolResult {
  const { content: blocks, ...rest } = result
  const whole = blocks.reduce((sum, block) => sum + sizeOf(block), sizeOf(rest))
  if (whole <= maxBytes) return result
  const content: JsonObject[] = []
  let left = maxBytes
  for (const block of blocks) {
    const size = sizeOf(block)
    const kept = size <= left ? block : cutBlock(block, left)
    if (kept !== undefined) content.push(kept)
    if (kept !== block) break
    left -= size
  }
  content.push(textBlock(`[Cut by the host: of ${whole} bytes, at most ${maxBytes} are shown.]`))
  return { content, ...(result.isError === true && { isError: true }) }
}

/** Only a text can be shown in part. */
function cutBlock(block: JsonObject, maxBytes: number): JsonObject | undefined {
  if (block.type !== 'text' || typeof block.text !== 'string') return undefined
  const text = cutText(block.text, maxBytes)
  return text === '' ? undefined : textBlock(text)
}

/** As many whole characters as fit. */
function cutText(text: string, maxBytes: number): string {
  const room = new Uint8Array(Math.min(maxBytes, 3 * text.length))
  return text.slice(0, new TextEncoder().encodeInto(text, room).read)
}

/** A text counts by itself: how it is written down as JSON is not its size. */
function sizeOf(value: JsonObject): number {
  if (Object.keys(value).length === 0) return 0
  const { type, text, ...rest } = value
  if (type === 'text' && typeof text === 'string') return Buffer.byteLength(text) + sizeOf(rest)
  return Buffer.byteLength(JSON.stringify(value))
}
