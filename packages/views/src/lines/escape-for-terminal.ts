/**
 * What a terminal obeys or hides rather than shows: controls of 7 and 8 bits, halves of surrogate pairs, line
 * and paragraph separators, marks of writing direction, and all that has no width.
 */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** These only choose between two forms of the character before them. */
const variationSelectors = new Set(['\ufe0e', '\ufe0f'])

/**
 * Text from anywhere as one line that is safe to print: what a terminal would obey is shown as an escape, and
 * at most `max` code points remain, the last of them `…` where something was left out.
 *
 * @example
 * escapeForTerminal('\u001b]0;owned\u0007') // '\\x1b]0;owned\\x07'
 */
export function escapeForTerminal(text: string, max: number = Number.POSITIVE_INFINITY): string {
  const shown: string[] = []
  let length = 0
  for (const character of text.replaceAll('\r\n', '\n')) {
    const visible = visibly(character)
    shown.push(visible)
    // An escape is as long as its letters; any other character is one code point.
    length += visible === character ? 1 : visible.length
    if (length > max) return cutBack(shown, length, max)
  }
  return shown.join('')
}

function visibly(character: string): string {
  if (character === '\n') return '⏎'
  if (character === '\t') return '⇥'
  if (!unsafeCharacters.test(character) || variationSelectors.has(character)) return character
  const code = character.codePointAt(0) ?? 0
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x1_0000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}

/** Leaves out whole characters and whole escapes until there is room for the `…`. */
function cutBack(shown: string[], length: number, max: number): string {
  if (max < 1) return ''
  let left = length
  while (left > max - 1) left -= [...(shown.pop() ?? '')].length || 1
  return `${shown.join('')}…`
}
