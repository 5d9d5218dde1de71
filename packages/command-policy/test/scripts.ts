import fc from 'fast-check'
import { stubNames } from './stub-programs.ts'

const character = fc.constantFrom(...'abz09-_./ \t\n\'"\\$`*?[]{}~#;&|<>()!=é')

/** One character, quoted in one of the ways of a shell. */
const quotedCharacter = character.chain((text) => {
  const ways = [`'${text}'`, `"${'"\\$`'.includes(text) ? '\\' : ''}${text}"`]
  if (text === "'") ways.shift()
  if (text !== '\n') ways.push(`\\${text}`)
  if (/[abz09_./-]/.test(text)) ways.push(text, `\\\n${text}`)
  return fc.constantFrom(...ways).map((written) => ({ text, written }))
})

/** A word with its value. It does not begin with a character that is special at the beginning of a word. */
export const quotedWord = fc.array(quotedCharacter, { minLength: 1, maxLength: 6 }).map((characters) => ({
  value: `w${characters.map(({ text }) => text).join('')}`,
  written: `w${characters.map(({ written }) => written).join('')}`,
}))

const program = fc.constantFrom(
  ...stubNames,
  'a\\a',
  "'b'b",
  '"cc"',
  'command aa',
  'exec cc',
  'time bb',
  '! aa',
)
const blank = fc.constantFrom(' ', '  ', '\t', ' \\\n')
const argument = fc.oneof(
  { weight: 6, arbitrary: quotedWord.map(({ written }) => written) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"a$x"',
      '2>/dev/null',
      '>/dev/null',
      '</dev/null',
      '2>&1',
      '~/x',
      './*',
      '{}',
    ),
  },
)
const simple = fc
  .tuple(
    fc.constantFrom('', '', 'x=1 ', '</dev/null '),
    program,
    fc.array(fc.tuple(blank, argument), { maxLength: 3 }),
  )
  .map(([before, name, args]) => `${before}${name}${args.flat().join('')}`)

/** Scripts with every construct of a shell that terminates. */
export const { script } = fc.letrec<{ script: string; command: string }>((tie) => {
  const inner = tie('script')
  return {
    command: fc.oneof(
      { maxDepth: 4 },
      { weight: 8, arbitrary: simple },
      { weight: 1, arbitrary: inner.map((text) => `(${text}\n)`) },
      { weight: 1, arbitrary: inner.map((text) => `{ ${text}\n}`) },
      { weight: 1, arbitrary: inner.map((text) => `if ${text}\nthen aa yes; else bb no; fi`) },
      { weight: 1, arbitrary: inner.map((text) => `for x in one two\ndo ${text}\ndone`) },
      { weight: 1, arbitrary: inner.map((text) => `case w in (v|w) ${text}\n;; *) cc never ;; esac`) },
      { weight: 1, arbitrary: inner.map((text) => `aa before # ${text.replaceAll('\n', ' ')}\nbb after`) },
      { weight: 1, arbitrary: inner.map((text) => `aa <<'END' | bb\n${text}\nEND\ncc`) },
      { weight: 1, arbitrary: inner.map((text) => `aa <<END; bb\n\\$(${text.replace(/[$`\\]/g, '')})\nEND`) },
      { weight: 1, arbitrary: inner.map((text) => `aa "$(${text}\n)"`) },
      { weight: 1, arbitrary: inner.map((text) => `f() { ${text}\n}; f`) },
    ),
    script: fc
      .tuple(
        tie('command'),
        fc.array(
          fc.tuple(fc.constantFrom('; ', '\n', ' && ', ' || ', ' | ', ' & ', ' &&\n'), tie('command')),
          {
            maxLength: 3,
          },
        ),
      )
      .map(([first, rest]) => `${first}${rest.flat().join('')}`),
  }
})

const tokens = [
  ...stubNames.flatMap((name) => Array<string>(10).fill(name)),
  ...Array<string>(30).fill(' '),
  ...'\n\n;;&|(){}"\'\\$`<>#=!*~[]x1-,',
  ...[
    'if ',
    ' then ',
    '; fi',
    'case x in ',
    ' esac',
    'for x ',
    'in ',
    '; do ',
    '; done',
    '<<E',
    '\nE\n',
    '<<-E',
  ],
  ...[
    '$x',
    '$(',
    ')',
    '${x',
    '((',
    '))',
    ';;',
    '&&',
    '||',
    '|&',
    '&>',
    '>&',
    '<(',
    '$((',
    "$'",
    '$"',
    '\\\n',
  ],
  ...[
    'time ',
    'eval ',
    'exec ',
    'command ',
    'x=1 ',
    'x+=1 ',
    'f() ',
    'function f ',
    'alias aa=bb',
    '[[ ',
    ' ]]',
    '! ',
  ],
]

/** Random text without a grammar, to cover unexpected input. */
export const soup = fc
  .array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 10 })
  .map((parts) => parts.join(''))

/** Pieces of scripts that nest deeper or look further ahead with each repetition. */
export const repeatable: readonly string[] = [
  '$(',
  '$((',
  '${x:-',
  '`',
  '\\`',
  '(',
  '{ ',
  '"',
  '"$(',
  '[',
  '*',
  '{',
  '<<E\n',
  'env ',
  'eval ',
  'xargs ',
  'timeout ',
  'time ',
  'time -p ',
  'find -exec ',
  'find -exec a ; ',
  'a;',
  'a ',
  '-a ',
  '$x ',
  'case x in a) ',
  'flock a ',
  'sh <<E\n',
  '\\\n',
  '"${x:-',
  '<(',
]
