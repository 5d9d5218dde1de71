/**
 * Characters that a terminal interprets or does not show: 7-bit and 8-bit controls, lone surrogates, line and
 * paragraph separators, direction marks and zero-width characters.
 */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** Harmless: they only select the form of the preceding character. */
const variationSelectors = new Set(['\ufe0e', '\ufe0f'])

/**
 * Turns untrusted text into one line that is safe to print: control and invisible characters become escapes, and text
 * longer than `max` code points is cut and ends with `…`.
 *
 * @example
 * escapeForTerminal('\u001b]0;owned\u0007') // '\\x1b]0;owned\\x07'
 */
export function escapeForTerminal(text: string, max: number = Number.POSITIVE_INFINITY): string {
  const shown: string[] = []
  let length = 0
  for (const character of text.replaceAll('\r\n', '\n')) {
    const printable = escapeCharacter(character)
    shown.push(printable)
    // The length of an escape is that of its ASCII text; any other character is one code point.
    length += printable === character ? 1 : printable.length
    if (length > max) return cutBack(shown, length, max)
  }
  return shown.join('')
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '⏎'
  if (character === '\t') return '⇥'
  if (!unsafeCharacters.test(character) || variationSelectors.has(character)) return character
  const code = character.codePointAt(0) ?? 0
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x1_0000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}

/** Removes whole characters and escapes from the end until the `…` fits. */
function cutBack(shown: string[], length: number, max: number): string {
  if (max < 1) return ''
  let remaining = length
  while (remaining > max - 1) remaining -= [...(shown.pop() ?? '')].length || 1
  return `${shown.join('')}…`
}
