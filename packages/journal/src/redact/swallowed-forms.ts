import { unescapeFirst } from './escapes.ts'

/** Every text that an escape may begin with, up to the digits that the text after it may have. */
const introducers = [
  ...['%', '%0', '%u', '%u0', '%u00', '%u000'],
  ...['\\', '\\x', '\\x0', '\\u', '\\u0', '\\u00', '\\u000'],
  ...['\\u{', '\\u{0', '\\u{00', '\\u{000', '\\u{0000', '\\u{00000', '\\u{000000'],
  ...['\\0', '\\00', '\\000'],
]
/** A shorter rest may be ordinary text. */
export const shortestRest = 8
const longestSwallowed = 8

/**
 * The ends of a form that are left if text before it makes an escape of its first characters, as in `%` before
 * hexadecimal, also if that happens twice.
 *
 * @example
 * swallowedForms('41bcorrect-horse') // ['1bcorrect-horse', 'bcorrect-horse', …]
 */
export function swallowedForms(form: string): string[] {
  const lengths = new Set<number>()
  for (const once of swallowedLengths(form)) {
    lengths.add(once)
    for (const again of swallowedLengths(form.slice(once))) lengths.add(once + again)
  }
  return [...lengths].map((length) => form.slice(length)).filter((rest) => rest.length >= shortestRest)
}

function swallowedLengths(form: string): Set<number> {
  const head = form.slice(0, longestSwallowed)
  const ends = introducers.map((introducer) => head.length - unescapeFirst(introducer + head)[1].length)
  return new Set(ends.filter((end) => end > 0))
}
