import type { Assignment, SimpleCommand } from '../shell/script.ts'
import { type HolePiece, literalValue, mayBecomeFlag, type Word } from '../shell/word.ts'
import {
  guessesOf,
  type NestedCommands,
  nestedCommand,
  noNestedCommands,
  possibleScripts,
} from './nested-commands.ts'
import type { Wrapper } from './wrapper-table.ts'

const addedArguments: HolePiece = { kind: 'hole', cause: 'substitution', written: '…', yields: 'fields' }

/** Finds the command that a wrapper runs by parsing the wrapper's flags. An unknown flag leaves guesses. */
export function nestedInWrapper(wrapper: Wrapper, command: SimpleCommand): NestedCommands {
  const { words } = command
  const feeds = wrapper.effect === 'feeds' ? ['the arguments it adds to a command are not known'] : []
  const start = passFlags(wrapper, words)
  if (start === 'idle') return noNestedCommands
  let at = start === undefined ? words.length : start + wrapper.operands
  const skipped = start === undefined ? [] : words.slice(start, at)
  const unclear = (reason: string): NestedCommands => ({
    ...noNestedCommands,
    uncertainties: [...feeds, reason],
    guesses: guessesOf(words),
    scripts: possibleScripts(words),
  })
  if (start === undefined || skipped.some(mayBecomeFlag))
    return unclear('its flags do not show which command it runs')
  const assignments: Assignment[] = []
  for (let word = words[at]; wrapper.assigns !== 'none' && word; word = words[at]) {
    const assignment = assignmentOf(word)
    if (!assignment) break
    if (wrapper.assigns === 'variables' && !/^[A-Za-z_]\w*$/.test(assignment.name))
      return unclear(`shells differ in whether ${assignment.name}= is an assignment`)
    assignments.push(assignment)
    at += 1
  }
  const rest = words.slice(at)
  if (rest.length === 0) return { ...noNestedCommands, uncertainties: feeds }
  const all = wrapper.effect === 'feeds' ? [...rest, { pieces: [addedArguments] }] : rest
  return {
    ...noNestedCommands,
    uncertainties: feeds,
    commands: [nestedCommand(command, all, assignments)],
    onlyRunsNested: wrapper.effect === 'only-runs',
  }
}

/** Returns the index of the first word that is not a flag; undefined if it is not certain. */
function passFlags(wrapper: Wrapper, words: readonly Word[]): number | 'idle' | undefined {
  let at = 1
  for (let word = words[at]; word; word = words[at]) {
    const text = literalValue(word)
    if (text === undefined) return mayBecomeFlag(word) ? undefined : at
    if (text === '--') return at + 1
    if (text === '-' || !text.startsWith('-')) return text === '-' && wrapper.dash ? at + 1 : at
    const taken = text.startsWith('--') ? longTakes(wrapper, text) : lettersTake(wrapper, text)
    if (taken === 'idle' || taken === undefined) return taken
    at += taken
  }
  return at
}

function longTakes({ longFlags, longValues }: Wrapper, text: string): number | undefined {
  const equals = text.indexOf('=')
  if (equals >= 0) return longValues.includes(text.slice(0, equals)) ? 1 : undefined
  if (longFlags.includes(text)) return 1
  return longValues.includes(text) ? 2 : undefined
}

function lettersTake({ flags, values, idle }: Wrapper, text: string): number | 'idle' | undefined {
  const letters = [...text.slice(1)]
  for (const [index, letter] of letters.entries()) {
    if (idle.includes(letter)) return 'idle'
    if (values.includes(letter)) return index === letters.length - 1 ? 2 : 1
    if (!flags.includes(letter)) return undefined
  }
  return 1
}

function assignmentOf(word: Word): Assignment | undefined {
  const [first, ...rest] = word.pieces
  if (first?.kind !== 'text') return undefined
  const equals = first.text.indexOf('=')
  if (equals <= 0) return undefined
  const value = { pieces: [{ ...first, text: first.text.slice(equals + 1) }, ...rest] }
  return { name: first.text.slice(0, equals), value }
}
