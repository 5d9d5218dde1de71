/** Of a few common programs: which names mean the same flag. Left as written, right the letter they count as. */
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

/** Programs whose flags of one dash are whole words. */
const wordy = new Set([
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

/** Programs whose arguments are a set: the order of `rm a b` does not matter. */
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

/** `-rf` as r and f; undefined where the flag is one word. */
export function bundledLetters(program: string, flag: string): readonly string[] | undefined {
  if (wordy.has(program) || !/^-[A-Za-z0-9]{1,5}$/.test(flag)) return undefined
  return [...flag.slice(1)].map((letter) => synonyms.get(program)?.get(letter) ?? letter)
}

/** The letters that a flag of the command may count as. */
export function lettersOf(program: string, flag: string): readonly string[] {
  const known = synonyms.get(program)
  if (!flag.startsWith('--')) {
    return wordy.has(program) ? [] : [...flag.slice(1)].map((letter) => known?.get(letter) ?? letter)
  }
  const name = longName(flag)
  // A beginning of a long name is enough for most programs.
  return [...(known ?? [])].filter(([long]) => long.startsWith(name)).map(([, letter]) => letter)
}

/** The letter that a long flag of a rule counts as, if the program is one of the few. */
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
