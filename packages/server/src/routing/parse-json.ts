import { VitrineError } from '@vitrine/protocol'

const maxDepth = 100
/** Members and items of all objects and arrays. */
const maxValues = 200_000

/** Parses JSON of a request. The errors do not quote it, because it may contain a secret. */
export function parseJson(name: string, text: string): unknown {
  checkSize(name, text)
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause, whose message quotes the text.
    throw new VitrineError(codeOf(name), `${name}: expected valid JSON.`)
  }
}

/** Counts without parsing: parsing and checking deep or wide JSON would block the event loop. */
function checkSize(name: string, text: string): void {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
    } else if (code === comma) {
      values += 1
      if (values > maxValues) throw tooLarge(name, `${maxValues} values in objects and arrays`, maxValues)
    } else if (code === openBrace || code === openBracket) {
      depth += 1
      values += 1
      if (depth > maxDepth) throw tooLarge(name, `${maxDepth} levels of nesting`, maxDepth)
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1
    }
  }
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The position of the quote that ends a string, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return text.length
}

function tooLarge(name: string, most: string, limit: number): VitrineError {
  return new VitrineError(codeOf(name), `${name}: expected at most ${most}, got more.`, {
    details: { limit },
  })
}

function codeOf(name: string): 'body_invalid' | 'argument_invalid' {
  return name === 'body' ? 'body_invalid' : 'argument_invalid'
}
