import { VitrineError } from '../errors/vitrine-error.ts'
import type { ContentBlock } from '../sandbox/sessions.ts'
import { shown } from '../shown.ts'

/** The fields that each type of block must have as texts. */
const textFields: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource: [],
  resource_link: ['uri', 'name'],
}

/** Converts a prompt to content blocks and checks them: a caller in JavaScript may pass anything. */
export function promptBlocks(content: string | readonly ContentBlock[]): ContentBlock[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!Array.isArray(blocks)) throw invalid('prompt', 'a text or an array of parts', content)
  if (blocks.length === 0) throw invalid('prompt', 'a text or at least one part', content)
  for (const [index, block] of blocks.entries()) checkBlock(`prompt[${index}]`, block)
  if (blocks.every(isBlank)) throw invalid('prompt', 'a text that is not blank', content)
  return [...blocks]
}

function checkBlock(field: string, block: unknown): void {
  if (!isObject(block)) throw invalid(field, 'an object such as { type: "text", text: "hello" }', block)
  const { type } = block
  if (typeof type !== 'string' || !Object.hasOwn(textFields, type))
    throw invalid(`${field}.type`, `one of ${Object.keys(textFields).join(', ')}`, type)
  requireTexts(field, block, textFields[type]!)
  if (type === 'image' || type === 'audio') requireBase64(`${field}.data`, block.data)
  if (type === 'resource') checkResource(`${field}.resource`, block.resource)
}

function checkResource(field: string, resource: unknown): void {
  if (!isObject(resource)) throw invalid(field, 'an object with uri, and text or blob', resource)
  requireTexts(field, resource, ['uri'])
  if (resource.blob === undefined) requireTexts(field, resource, ['text'])
  else requireBase64(`${field}.blob`, resource.blob)
}

function requireTexts(
  field: string,
  block: Readonly<Record<string, unknown>>,
  names: readonly string[],
): void {
  for (const name of names)
    if (typeof block[name] !== 'string') throw invalid(`${field}.${name}`, 'a string', block[name])
}

function requireBase64(field: string, data: unknown): void {
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw invalid(field, 'base64, without a prefix such as "data:"', data)
}

function isBlank({ type, text }: ContentBlock): boolean {
  return type === 'text' && String(text).trim() === ''
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(field: string, expected: string, got: unknown): VitrineError {
  return new VitrineError('argument_invalid', `${field}: expected ${expected}, got ${shown(got)}.`, {
    details: { path: field },
  })
}
