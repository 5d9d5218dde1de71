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
  return cut(jsonOf(value) ?? String(value))
}

/** JSON has neither cycles nor big integers. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return typeof value === 'bigint' ? `${value}n` : Object.prototype.toString.call(value)
  }
}

function cut(text: string): string {
  return text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text
}
