import type { SimpleCommand } from '../shell/script.ts'
import { literalValue, type Word } from '../shell/word.ts'
import { type NestedCommands, noNestedCommands } from './nested-commands.ts'

/** Checks awk and sed, whose programs can run commands and write files; undefined for other programs. */
export function nestedInEditingProgram(
  program: string,
  { words }: SimpleCommand,
): NestedCommands | undefined {
  const args = words.slice(1)
  if (/^([gmn]|go|fr|bwk|original-)?awk$/.test(program)) return uncertainUnless(args.every(isHarmlessAwk))
  if (/^[gs]?sed$/.test(program)) return uncertainUnless(isHarmlessSed(args))
  return undefined
}

function uncertainUnless(harmless: boolean): NestedCommands {
  return harmless
    ? noNestedCommands
    : { ...noNestedCommands, uncertainties: ['its program may run commands or write files'] }
}

function isHarmlessAwk(word: Word): boolean {
  const text = literalValue(word)
  return text !== undefined && !/system|getline|[|>@]|^-[fiElD]|^--/.test(text)
}

/** Recognises only the common forms: `1,20p` and `s/a/b/g`, alone or each after its own `-e`. */
function isHarmlessSed(args: readonly Word[]): boolean {
  const texts = args.map((word) => literalValue(word))
  const flags = texts.filter((text) => text?.startsWith('-'))
  if (!flags.every((flag) => /^-([nErsuz]+|[nEr]*e|i[.\w]*|-quiet|-silent|-in-place)$/.test(flag ?? '')))
    return false
  const expressions = texts.filter((_, index) => /^-[nEr]*e$/.test(texts[index - 1] ?? ''))
  const scripts =
    expressions.length > 0 ? expressions : texts.filter((text) => !text?.startsWith('-')).slice(0, 1)
  return scripts.every((script) => script !== undefined && isHarmlessScript(script))
}

function isHarmlessScript(script: string): boolean {
  if (/^([0-9]+|\$)?(,([0-9]+|\$))?[pdq=]$/.test(script)) return true
  const [, separator, rest] = /^s([/|#,:@!])([^\n]*)$/.exec(script) ?? []
  if (separator === undefined || rest === undefined || rest.includes('\\')) return false
  const [, , options, ...more] = rest.split(separator)
  return more.length === 0 && options !== undefined && /^[gpI0-9]*$/.test(options)
}
