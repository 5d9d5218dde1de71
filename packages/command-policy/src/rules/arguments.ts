import { displayText, literal, literalValue, mayBecomeFlag, type Word } from '../shell/word.ts'
import { isFlag, lettersOf, longName } from './flags.ts'

export interface Operand {
  readonly word: Word
  /** The word may be the value of the preceding flag. */
  readonly skippable: boolean
}

/** The arguments of a command, split into flags and operands, so that rules match flags in any order. */
export interface Arguments {
  readonly letters: ReadonlySet<string>
  /** Names of long flags, without their values. */
  readonly longs: readonly string[]
  /** Flags as written. */
  readonly flags: readonly string[]
  readonly operands: readonly Operand[]
  /** Some word with an unknown value may become any flag. */
  readonly openFlags: boolean
}

export function sortArguments(program: string, words: readonly Word[]): Arguments {
  const letters = new Set<string>()
  const longs: string[] = []
  const flags: string[] = []
  const operands: Operand[] = []
  let openFlags = false
  let afterFlag = false
  let ended = false
  for (const word of words) {
    const text = literalValue(word)
    if (mayBecomeFlag(word)) openFlags = true
    if (text === '--' && !ended) {
      ended = true
      afterFlag = false
      continue
    }
    const written = text ?? displayText(word)
    if (!isFlag(written)) {
      operands.push({ word, skippable: afterFlag })
      afterFlag = false
      continue
    }
    flags.push(written)
    for (const letter of lettersOf(program, written)) letters.add(letter)
    if (written.startsWith('--')) longs.push(longName(written))
    const value = written.includes('=') ? written.slice(written.indexOf('=') + 1) : undefined
    if (ended) operands.push({ word, skippable: true })
    else if (value !== undefined)
      operands.push({ word: text === undefined ? word : literal(value), skippable: true })
    afterFlag = !ended
  }
  return { letters, longs, flags, operands, openFlags }
}
