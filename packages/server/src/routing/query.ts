import { decodePathText } from '@vitrine/protocol/primitives'

/**
 * The values of a query by name; the first one of a repeated name. A byte that is not valid UTF-8 becomes a lone
 * surrogate, as in every path of the API.
 */
export function readQuery(search: string): Record<string, string> {
  // Without a prototype, so that `__proto__` is a name like any other.
  const values: Record<string, string> = Object.create(null)
  for (const part of search.replace(/^\?/, '').split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decode(at === -1 ? part : part.slice(0, at))
    if (!Object.hasOwn(values, name)) values[name] = at === -1 ? '' : decode(part.slice(at + 1))
  }
  return values
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text
  const bytes = Buffer.from(
    text
      .replaceAll('+', ' ')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return decodePathText(bytes)
}
