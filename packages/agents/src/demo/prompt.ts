/** A line such as `/say hello`. */
export interface CommandLine {
  readonly name: string
  readonly argument: string
}

/**
 * Reads the commands of a prompt, in order. A line without a slash belongs to the command above it.
 * Text before the first command is ignored, because a client may prepend something.
 * If no command is known, the prompt has commands only if it starts with a slash.
 */
export function readCommands(text: string, isKnown: (name: string) => boolean): CommandLine[] {
  const lines: { name: string; argument: string }[] = []
  for (const line of text.split('\n')) {
    const [, name, argument] = /^\s*\/([a-z][a-z0-9-]*)(?:[ \t]+(.*?))?\s*$/.exec(line) ?? []
    const last = lines.at(-1)
    if (name !== undefined) lines.push({ name, argument: argument ?? '' })
    else if (last !== undefined) last.argument += `\n${line}`
  }
  for (const line of lines) line.argument = line.argument.trimEnd()
  const first = lines.findIndex(({ name }) => isKnown(name))
  if (first >= 0) return lines.slice(text.trimStart().startsWith('/') ? 0 : first)
  return text.trimStart().startsWith(`/${lines[0]?.name}`) ? lines : []
}

/** Splits off the first word. */
export function firstWord(argument: string): [string, string] {
  const [, word = '', rest = ''] = /^(\S*)[ \t]*([\s\S]*)$/.exec(argument) ?? []
  return [word, rest]
}

/** Reads the numbers of an argument, with defaults for missing ones. */
export function readNumbers(argument: string, defaults: readonly number[]): number[] {
  const words = argument.split(/\s+/).filter((word) => word !== '')
  return defaults.map((fallback, index) => {
    const word = words[index]
    if (word === undefined) return fallback
    const number = Number(word)
    if (!Number.isSafeInteger(number) || number < 0)
      throw new Error(`Expected a number of 0 or more, got ${word}.`)
    return number
  })
}
