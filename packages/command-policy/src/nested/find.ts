import type { SimpleCommand } from '../shell/script.ts'
import { literalValue } from '../shell/word.ts'
import { type NestedCommands, nestedCommand, noNestedCommands } from './nested-commands.ts'

const runs = new Set(['-exec', '-execdir', '-ok', '-okdir'])
const changes = new Set(['-delete', '-fprint', '-fprint0', '-fprintf', '-fls'])

export function nestedInFind(command: SimpleCommand): NestedCommands {
  const texts = command.words.map((word) => literalValue(word))
  const uncertainties = new Set<string>()
  const commands: SimpleCommand[] = []
  for (let at = 1; at < texts.length; at += 1) {
    const text = texts[at] ?? ''
    if (changes.has(text)) uncertainties.add('it changes files that it finds')
    if (!runs.has(text)) continue
    uncertainties.add('it runs a command on files that are not known')
    const end = texts.findIndex((word, index) => index > at && (word === ';' || word === '+'))
    const words = command.words.slice(at + 1, end < 0 ? undefined : end)
    if (words.length > 0) commands.push(nestedCommand(command, words))
    at += words.length
  }
  return { ...noNestedCommands, uncertainties: [...uncertainties], commands }
}
