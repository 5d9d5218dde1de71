const maxChars = 200

/**
 * A value as JSON for an error message, cut at 200 characters. Not for fields that may contain a secret: an environment,
 * headers, credentials, a body.
 *
 * @example
 * `id: expected letters and digits, got ${shown(id)}.`
 */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value.toWellFormed()))
  return cut(JSON.stringify(value) ?? String(value))
}

function cut(text: string): string {
  return text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text
}
