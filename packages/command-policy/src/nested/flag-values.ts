import { displayText, type Word } from '../shell/word.ts'

/** Flags to look for: `-I` in any bundle, `--to-command` with its abbreviations, `-exec` as written. */
export interface FlagSet {
  readonly letters: string
  readonly longs: readonly string[]
}

export interface FlagValue {
  readonly flag: string
  /** Unknown parts are as written; undefined if nothing follows. */
  readonly value: string | undefined
}

/** @example flagSet(['-I', '--to-command', '-exec']) // { letters: 'I', longs: ['--to-command', '-exec'] } */
export function flagSet(flags: readonly string[] = []): FlagSet {
  return {
    letters: flags
      .filter((flag) => flag.length === 2)
      .map((flag) => flag.slice(1))
      .join(''),
    longs: flags.filter((flag) => flag.length > 2),
  }
}

/**
 * Finds flags with their values. A value is the rest of the word or the next word. Every word is looked at, also one
 * that may be the value of another flag.
 *
 * @param valueLetters letters that take a value, so that what follows them in a word is no flag
 */
export function flagValues(words: readonly Word[], set: FlagSet, valueLetters = ''): readonly FlagValue[] {
  const found: FlagValue[] = []
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]
    const text = word ? displayText(word) : ''
    if (text === '--') break
    if (!text.startsWith('-') || text.length < 2) continue
    const next = words[at + 1]
    const flag = longFlag(text, set) ?? bundledFlag(text, set.letters, valueLetters)
    if (flag) found.push({ flag: flag.flag, value: flag.value ?? (next && displayText(next)) })
  }
  return found
}

function longFlag(text: string, { longs }: FlagSet): FlagValue | undefined {
  const equals = text.indexOf('=')
  const name = equals < 0 ? text : text.slice(0, equals)
  const abbreviates = (long: string) => name.length > 3 && name.startsWith('--') && long.startsWith(name)
  const flag = longs.find((long) => long === name) ?? longs.find(abbreviates)
  return flag === undefined ? undefined : { flag, value: equals < 0 ? undefined : text.slice(equals + 1) }
}

function bundledFlag(text: string, letters: string, valueLetters: string): FlagValue | undefined {
  if (letters === '' || text.startsWith('--')) return undefined
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? ''
    if (letters.includes(letter)) {
      const rest = text.slice(at + 1)
      return { flag: `-${letter}`, value: rest === '' ? undefined : rest }
    }
    if (valueLetters.includes(letter)) return undefined
  }
  return undefined
}

/** The words that are neither flags nor, as far as the letters say, values of flags. */
export function operandsOf(words: readonly Word[], valueLetters = ''): readonly string[] {
  const operands: string[] = []
  let ended = false
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]
    const text = word ? displayText(word) : ''
    if (ended || !text.startsWith('-') || text === '-') operands.push(text)
    else if (text === '--') ended = true
    else if (!text.startsWith('--') && valueLetters.includes(text.at(-1) ?? '-')) at += 1
  }
  return operands
}
