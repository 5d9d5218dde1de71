/** The beginning of an escape at the end of a text. */
const unfinished =
  /(?:%(?:[\da-fA-F]|u[dD][89abAB][\da-fA-F]{2}(?:%(?:u(?:[dD](?:[c-fC-F][\da-fA-F]?)?)?)?)?|u[\da-fA-F]{0,3})?|\\(?:U[\da-fA-F]{0,7}|u[dD][89abAB][\da-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][\da-fA-F]?)?)?)?)?|u[\da-fA-F]{0,3}|u\{[\da-fA-F]{0,6}|x[\da-fA-F]?|0[0-3][0-7]|[0-3][0-7]?|[4-7])?)$/
const longestUnfinished = 12

/** Whether a text may contain an escape or end with the beginning of one. A percentage is none. */
export function mayHaveEscapes(text: string): boolean {
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 1))
    if (isPercentEscape(text, at)) return true
  return text.includes('\\')
}

function isPercentEscape(text: string, at: number): boolean {
  return at + 1 === text.length || isHexDigit(text.charCodeAt(at + 1)) || text[at + 1] === 'u'
}

function isHexDigit(unit: number): boolean {
  const letter = unit | 32
  return (unit >= 48 && unit <= 57) || (letter >= 97 && letter <= 102)
}

/**
 * The index where the beginning of an escape starts that reaches the end of the text, or the text's length. The first
 * half of a surrogate pair is one too: only both together have bytes.
 */
export function unfinishedEscape(text: string): number {
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) return text.length - 1
  const tail = text.slice(-longestUnfinished)
  if (!tail.includes('\\') && !tail.includes('%')) return text.length
  const found = unfinished.exec(tail)
  if (found === null) return text.length
  const at = text.length - tail.length + found.index
  return text[at] === '\\' && isEscaped(text, at) ? text.length : at
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Whether a backslash is the second half of `\\`. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}
