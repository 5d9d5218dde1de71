/** Synonyms of flags of a few common programs: the flag as written, and the letter that it counts as. */
const synonyms = new Map<string, ReadonlyMap<string, string>>([
  [
    'rm',
    new Map([
      ['R', 'r'],
      ['--recursive', 'r'],
      ['--force', 'f'],
    ]),
  ],
  [
    'cp',
    new Map([
      ['R', 'r'],
      ['--recursive', 'r'],
      ['--force', 'f'],
    ]),
  ],
  ['mv', new Map([['--force', 'f']])],
  ['chmod', new Map([['--recursive', 'R']])],
  ['chown', new Map([['--recursive', 'R']])],
  ['chgrp', new Map([['--recursive', 'R']])],
  [
    'git',
    new Map([
      ['--force', 'f'],
      ['--delete', 'd'],
    ]),
  ],
  [
    'curl',
    new Map([
      ['--output', 'o'],
      ['--remote-name', 'O'],
      ['--upload-file', 'T'],
      ['--data', 'd'],
      ['--insecure', 'k'],
    ]),
  ],
  ['wget', new Map([['--output-document', 'O']])],
])

/** Programs whose flags with one dash are whole words. */
const wordFlagPrograms = new Set([
  'find',
  'java',
  'javac',
  'go',
  'terraform',
  'openssl',
  'ffmpeg',
  'gcc',
  'clang',
  'screen',
])

/** Programs whose operands have no order, such as `rm a b`. */
const unordered = new Set([
  'rm',
  'rmdir',
  'unlink',
  'shred',
  'chmod',
  'chown',
  'chgrp',
  'kill',
  'killall',
  'pkill',
])

export function isUnordered(program: string): boolean {
  return unordered.has(program)
}

/** Splits `-rf` into r and f; undefined if the flag is one word. */
export function bundledLetters(program: string, flag: string): readonly string[] | undefined {
  if (wordFlagPrograms.has(program) || !/^-[A-Za-z0-9]{1,5}$/.test(flag)) return undefined
  return [...flag.slice(1)].map((letter) => synonyms.get(program)?.get(letter) ?? letter)
}

/** Returns the letters that a command's flag may count as. */
export function lettersOf(program: string, flag: string): readonly string[] {
  const known = synonyms.get(program)
  if (!flag.startsWith('--')) {
    return wordFlagPrograms.has(program)
      ? []
      : [...flag.slice(1)].map((letter) => known?.get(letter) ?? letter)
  }
  const name = longName(flag)
  // Most programs accept a prefix of a long flag.
  return [...(known ?? [])].filter(([long]) => long.startsWith(name)).map(([, letter]) => letter)
}

/** Returns the letter that a rule's long flag counts as, if the program has synonyms. */
export function letterOf(program: string, flag: string): string | undefined {
  return synonyms.get(program)?.get(longName(flag))
}

export function longName(flag: string): string {
  const equals = flag.indexOf('=')
  return equals < 0 ? flag : flag.slice(0, equals)
}

export function isFlag(text: string): boolean {
  return text.startsWith('-') && text.length > 1
}
