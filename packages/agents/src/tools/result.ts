import { type JsonObject, type JsonValue, VitrineError } from '@vitrine/protocol'

/** The result of a tool call in the Model Context Protocol. */
export type ToolResult = JsonObject & { readonly content: readonly JsonObject[] }

/** Converts the return value of a tool to a result. Throws when the value cannot be serialized as JSON. */
export function toolResult(returned: unknown, maxBytes: number): ToolResult {
  if (typeof returned === 'string') return bounded(textResult(returned), maxBytes)
  const json = toJson(returned)
  if (json === undefined) return textResult('')
  const value: JsonValue = JSON.parse(json)
  return bounded(isResult(value) ? value : textResult(json), maxBytes)
}

/** A failed result with the error message, but without a stack trace of the host. */
export function failedResult(message: string, maxBytes: number): ToolResult {
  return { ...bounded(textResult(message), maxBytes), isError: true }
}

/** An empty text gives no block, because model APIs reject empty blocks. */
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
    throw new VitrineError(
      'argument_invalid',
      `The tool returned a value that JSON cannot represent: ${why}`,
      {
        cause: error,
      },
    )
  }
}

/** Whether a value is a result: `{ content: 'text' }` is an ordinary object, not a result. */
function isResult(value: JsonValue): value is ToolResult {
  if (!isObject(value) || !Array.isArray(value.content)) return false
  return value.content.every((block: JsonValue) => isObject(block) && typeof block.type === 'string')
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Keeps the first blocks that fit, cuts the text block at the limit, and adds a note. */
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

/** Cuts a text block; other blocks cannot be cut. */
function cutBlock(block: JsonObject, maxBytes: number): JsonObject | undefined {
  if (block.type !== 'text' || typeof block.text !== 'string') return undefined
  const text = cutText(block.text, maxBytes)
  return text === '' ? undefined : textBlock(text)
}

/** Returns as many whole characters as fit. */
function cutText(text: string, maxBytes: number): string {
  const buffer = new Uint8Array(Math.min(maxBytes, 3 * text.length))
  return text.slice(0, new TextEncoder().encodeInto(text, buffer).read)
}

/** Size in bytes; a text block counts with its text, not with its JSON form. */
function sizeOf(value: JsonObject): number {
  if (Object.keys(value).length === 0) return 0
  const { type, text, ...rest } = value
  if (type === 'text' && typeof text === 'string') return Buffer.byteLength(text) + sizeOf(rest)
  return Buffer.byteLength(JSON.stringify(value))
}
