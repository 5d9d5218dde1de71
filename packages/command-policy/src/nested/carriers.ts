import type { SimpleCommand } from '../shell/script.ts'
import { displayText, literal, type Word } from '../shell/word.ts'
import type { Carrier } from './carrier.ts'
import { carriers } from './carrier-table.ts'
import { type FlagValue, flagValues, operandsOf } from './flag-values.ts'
import {
  guessesOf,
  type NestedCommands,
  type NestedScript,
  noNestedCommands,
  posixScript,
  possibleScripts,
} from './nested-commands.ts'

/** Finds commands and code in the arguments of a program that has other work; undefined if it is no such program. */
export function nestedInCarrier(program: string, { words }: SimpleCommand): NestedCommands | undefined {
  const carrier = carriers.get(program)
  if (!carrier) return undefined
  const args = words.slice(1).map(displayText)
  const { uncertainties, scripts } = carriedCommands(carrier, words, args)
  const unread = carrier.unread?.(operandsOf(words, carrier.values), args)
  const run = runWords(carrier, words)
  if (uncertainties.length + run.length === 0 && unread === undefined) return noNestedCommands
  return {
    ...noNestedCommands,
    uncertainties,
    scripts: [...scripts, ...possibleScripts(run)],
    unread: unread === undefined ? [] : [unread],
    guesses: run.length === 0 ? [] : guessesOf([literal(program), ...run]),
  }
}

function carriedCommands(carrier: Carrier, words: readonly Word[], args: readonly string[]) {
  const { command, code, setting, values } = carrier
  const uncertainties: string[] = []
  const scripts: NestedScript[] = []
  const old = carrier.oldBundle ? oldBundle(carrier, words) : []
  for (const { flag, value = '' } of [...old, ...flagValues(words, command, values)]) {
    if (carrier.harmless?.test(value)) continue
    uncertainties.push(`${flag} gives it a command to run`)
    scripts.push(posixScript(value.replace(/^exec=/, '')))
  }
  for (const { flag } of flagValues(words, code, values))
    uncertainties.push(`${flag} gives it code or settings that may run commands`)
  for (const { flag, value = '' } of flagValues(words, setting, values)) {
    if (carrier.harmlessSetting?.test(value)) continue
    uncertainties.push(`${flag} sets what may run a command`)
    scripts.push(posixScript(value.replace(/^[^=\s]*[=\s]?/, '')))
  }
  for (const text of carrier.word ? args : []) {
    const match = carrier.word?.exec(text)
    if (!match) continue
    uncertainties.push('an argument gives it a command to run')
    scripts.push(posixScript(text.slice(match.index + match[0].length)))
  }
  return { uncertainties, scripts }
}

function runWords({ runs }: Carrier, words: readonly Word[]): readonly Word[] {
  if (runs === undefined) return []
  if (runs === 'operands') return words.slice(1)
  const at = words.findIndex((word, index) => index > 0 && runs.test(displayText(word)))
  return at < 0 ? [] : words.slice(at + 1)
}

/** In `tar xIf cmd a.tar`, the first word is a bundle of flags without a dash, and their values follow it. */
function oldBundle({ command }: Carrier, words: readonly Word[]): readonly FlagValue[] {
  const [, first, ...rest] = words
  const text = first ? displayText(first) : '-'
  const letter = [...command.letters].find((candidate) => text.includes(candidate))
  if (text.startsWith('-') || letter === undefined) return []
  return rest.map((word) => ({ flag: letter, value: displayText(word) }))
}
