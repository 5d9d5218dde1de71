/** All text of a content: a string, a list of blocks, or an object such as Gemini's `{ output }`. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (typeof content !== 'object' || content === null) return ''
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join('\n')
  const { text, output, content: inner, error } = content as Record<string, unknown>
  return textOf(text ?? output ?? inner ?? error)
}
